package recursion_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/recursion"
)

// Two proofs to one: each says what the 8th power of a number is, and the one that both verify.
func Example() {
	ctx, ex := context.Background(), executor.Pool()
	// Parameters that promise nothing, for speed; those of recursion.Secure100 have 100 bits.
	params := stark.Params{Name: "example", Bits: stark.Unproven, Degree: 2, LogBlowup: 2, Queries: 3, Stack: 2, LogFold: 2, LogFinal: 2, LogCap: 1}
	config := stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: params}

	// A column of x, x², x⁴, x⁸, whose first and last numbers are public.
	squares, err := stark.New(config, &air.Table{Name: "squares", Columns: 1, State: func(t *air.Builder) {
		t.Zero(air.First, "x", t.Here(0).Sub(t.Public(0)))
		t.Zero(air.Transition, "square", t.Next(0).Sub(t.Here(0).Mul(t.Here(0))))
		t.Zero(air.Last, "power", t.Here(0).Sub(t.Public(1)))
	}})
	if err != nil {
		log.Fatal(err)
	}
	var proofs []recursion.Proof
	for _, powers := range [][]uint64{{2, 4, 16, 256}, {3, 9, 81, 6561}} {
		trace := stark.Trace{Rows: 4, Fill: func(_ context.Context, _ executor.Executor, cells *stark.Cells) error {
			for row, power := range powers {
				cells.Set(row, 0, power)
			}
			return nil
		}}
		statement := stark.Statement{Forms: []stark.Form{{4}}, Publics: []uint64{powers[0], powers[3]}}
		proof, err := squares.Prove(ctx, ex, []stark.Trace{trace}, statement, stark.Options{})
		if err != nil {
			log.Fatal(err)
		}
		proofs = append(proofs, recursion.Proof{Bytes: proof, Statement: statement})
	}

	// What is known before there are proofs: their system, and the form of what they say.
	child := recursion.NewChild(squares, proofs[0].Statement)
	both, err := recursion.New(config, child, child)
	if err != nil {
		log.Fatal(err)
	}
	about := []byte("transaction 7") // what the proof is for
	proof, err := both.Prove(ctx, ex, proofs, about, stark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	said := []stark.Statement{proofs[0].Statement, proofs[1].Statement}
	fmt.Println("both: ", both.Verify(proof, said, about))
	fmt.Println("for 8:", both.Verify(proof, said, []byte("transaction 8")))
	said[1] = stark.Statement{Forms: said[1].Forms, Publics: []uint64{3, 6562}}
	fmt.Println("other:", both.Verify(proof, said, about))

	proofs[1].Statement = said[1]
	_, err = both.Prove(ctx, ex, proofs, about, stark.Options{})
	fmt.Println("prove:", err)
	// Output:
	// both:  <nil>
	// for 8: proof rejected: a tuple is not answered as often as it is asked for
	// other: proof rejected: a tuple is not answered as often as it is asked for
	// prove: proof 1: proof rejected: table "squares": its constraints do not hold
}
