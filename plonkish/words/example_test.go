package words_test

import (
	"errors"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/words"
)

// A circuit for the AND and the exclusive or of two secret words of eight bits. A number of nine bits does not satisfy
// it.
func Example() {
	for _, x := range []uint64{0b1100, 1 << 8} {
		b := plonkish.NewBuilder(plonkish.TurboPlonk())
		w, err := words.NewGates(b, 8)
		if err != nil {
			panic(err)
		}
		left, right := b.Var(fr.NewElement(x)), b.Var(fr.NewElement(0b1010))
		and, xor := w.And(left, right), w.Xor(left, right)
		for _, result := range []plonkish.Var{and, xor} {
			b.Equal(result, b.Public(b.Value(result)))
		}
		circuit, err := b.Build()
		if err != nil {
			panic(err)
		}
		public := circuit.Public()
		fmt.Printf("%d: %04b and %04b, satisfied: %v\n", x, public[0].Uint64(), public[1].Uint64(), !errors.Is(circuit.Check(), zkbench.ErrWitness))
	}
	// Output:
	// 12: 1000 and 0110, satisfied: true
	// 256: 0000 and 1010, satisfied: false
}
