package plonkish_test

import (
	"context"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/srs"
)

// cubeRoot is the statement that somebody knows a cube root of a public value.
func cubeRoot(root, square, cube uint64) (*plonkish.Circuit, error) {
	b := plonkish.NewBuilder(plonkish.Plonk())
	x, y, z := b.Var(fr.NewElement(root)), b.Var(fr.NewElement(square)), b.Public(fr.NewElement(cube))
	var minus fr.Element
	minus.SetInt64(-1)
	product := b.Kind(plonkish.Arithmetic(), fr.One(), fr.Element{}, fr.Element{}, minus) // a b - c = 0
	b.Row(product, []plonkish.Var{x, x, y})
	b.Row(product, []plonkish.Var{y, x, z})
	return b.Build()
}

// Somebody who knows a cube root of 27 shows it without showing the root; over a string whose secret
// everybody can know this is no proof, and only a call for tests accepts it. Of 28 there is no such proof:
// not by the proof of 27, not from cells that do not hold, and a row without a result is no circuit.
func Example() {
	ctx, ex := context.Background(), executor.Serial()
	circuit, err := cubeRoot(3, 9, 27)
	if err != nil {
		panic(err)
	}
	s, err := srs.Insecure(ctx, ex, circuit.Size(), 1) // for tests: everybody can know τ
	if err != nil {
		panic(err)
	}
	key, err := plonkish.Setup(ctx, ex, circuit, s)
	if err != nil {
		panic(err)
	}
	proof, err := key.Prove(ctx, ex, circuit, plonkish.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(key.Verify(proof, []fr.Element{fr.NewElement(27)}, nil))
	fmt.Println(len(proof), "bytes:", key.VerifyInsecure(proof, []fr.Element{fr.NewElement(27)}, nil))
	fmt.Println(key.VerifyInsecure(proof, []fr.Element{fr.NewElement(28)}, nil))

	false28, err := cubeRoot(3, 9, 28)
	if err != nil {
		panic(err)
	}
	_, err = key.Prove(ctx, ex, false28, plonkish.Options{})
	fmt.Println(err)

	b := plonkish.NewBuilder(plonkish.Plonk())
	product := b.Kind(plonkish.Arithmetic(), fr.One(), fr.Element{}, fr.Element{}, fr.One())
	x := b.Public(fr.NewElement(3))
	b.Row(product, []plonkish.Var{x, x}) // of no result: a prover could have any
	_, err = b.Build()
	fmt.Println(err)
	// Output:
	// invalid parameters: a key over an insecure reference string; accepted are those over a file with a published hash, and for tests VerifyInsecure takes any
	// 480 bytes: <nil>
	// proof rejected: the opening does not hold
	// unsatisfied circuit: row 2: gate "arithmetic of 3": term "sum" of ["a" "b" "c"]
	// invalid parameters: row 1: column "c" holds no value, but "arithmetic of 3" of row 1 reads it; give it a Var (Zero for 0) or a free value
}

// A gate is a file like this one: its terms, which are 0 in its rows. This one is the fifth power
// of MiMC or Poseidon, a step a row: the next row's x is (x + key + c)^5, c a parameter of the row.
func Example_gate() {
	x, key, c := plonkish.Cell(0), plonkish.Cell(1), plonkish.Param(0)
	sum := x.Add(key).Add(c)
	power := sum.Square().Square().Mul(sum)
	step := &plonkish.Gate{Name: "step", Terms: []plonkish.Term{
		{Name: "power", Zero: power.Sub(plonkish.Next(0))},
		{Name: "key", Zero: key.Sub(plonkish.Next(1))},
	}}
	arith := plonkish.Arithmetization{Name: "steps", Columns: []string{"x", "key"}, Permuted: 2, Params: 1, Gates: []*plonkish.Gate{step}}

	b := plonkish.NewBuilder(arith)
	state, secret := b.Var(fr.NewElement(2)), b.Var(fr.NewElement(10))
	for i := range uint64(100) {
		constant := fr.NewElement(i)
		b.Row(b.Kind(step, constant), []plonkish.Var{state, secret})
		sum := b.Value(state)
		key := b.Value(secret)
		sum.Add(&sum, &key).Add(&sum, &constant)
		var next fr.Element
		state = b.Var(*next.Square(&sum).Square(&next).Mul(&next, &sum))
	}
	b.Row(0, []plonkish.Var{state, secret})
	b.Equal(state, b.Public(b.Value(state)))
	circuit, err := b.Build()
	if err != nil {
		panic(err)
	}
	fmt.Println(circuit.Rows(), "rows:", circuit.Check())
	// Output: 102 rows: <nil>
}
