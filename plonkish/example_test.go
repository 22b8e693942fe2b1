package plonkish_test

import (
	"context"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/srs"
)

// Who knows a cube root of 27 shows so, and not the root.
func Example() {
	ctx, ex := context.Background(), executor.Serial()
	b := plonkish.NewBuilder(plonkish.Plonk())
	root, square, cube := b.Var(fr.NewElement(3)), b.Var(fr.NewElement(9)), b.Public(fr.NewElement(27))
	var minus fr.Element
	minus.SetInt64(-1)
	product := b.Kind(plonkish.Arithmetic, fr.One(), fr.Element{}, fr.Element{}, minus) // a b - c = 0
	b.Row(product, []plonkish.Var{root, root, square})
	b.Row(product, []plonkish.Var{square, root, cube})
	circuit, err := b.Build()
	if err != nil {
		panic(err)
	}

	s, err := srs.Insecure(ctx, ex, circuit.Size(), 1)
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
	fmt.Println(len(proof), "bytes:", key.Verify(proof, []fr.Element{fr.NewElement(27)}, nil))
	fmt.Println(key.Verify(proof, []fr.Element{fr.NewElement(28)}, nil))
	// Output:
	// 480 bytes: <nil>
	// proof rejected: the opening does not hold
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
	system := plonkish.System{Name: "steps", Columns: []string{"x", "key"}, Permuted: 2, Params: 1, Gates: []*plonkish.Gate{step}}

	b := plonkish.NewBuilder(system)
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
