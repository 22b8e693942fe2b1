package pedersen_test

import (
	"context"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/pedersen"
	"github.com/zkbench/zkbench/srs"
)

// knowledge is a circuit of who knows two values with a public hash.
func knowledge(x, y uint64) (*plonkish.Circuit, error) {
	b := plonkish.NewBuilder(plonkish.UltraPlonk())
	h, err := pedersen.NewWindow(b, pedersen.BestWidth(1))
	if err != nil {
		return nil, err
	}
	hash := h.Hash(b.Var(fr.NewElement(x)), b.Var(fr.NewElement(y)))
	b.Equal(hash, b.Public(b.Value(hash)))
	return b.Build()
}

// A proof that somebody knows what a Pedersen hash is of, and none of another hash.
func Example() {
	ctx, pool := context.Background(), executor.Pool()
	circuit, err := knowledge(7, 11)
	if err != nil {
		panic(err)
	}
	reference, err := srs.Insecure(ctx, pool, circuit.Size(), 1) // for tests: everybody can know τ
	if err != nil {
		panic(err)
	}
	key, err := plonkish.Setup(ctx, pool, circuit, reference)
	if err != nil {
		panic(err)
	}
	proof, err := key.Prove(ctx, pool, circuit, plonkish.Options{})
	if err != nil {
		panic(err)
	}
	public := circuit.Public()
	fmt.Println(len(proof), "bytes of", public[0].Text(16)[:12])
	fmt.Println(key.VerifyInsecure(proof, public, nil)) // Verify, over a string of a ceremony

	other, err := knowledge(7, 12)
	if err != nil {
		panic(err)
	}
	fmt.Println(key.VerifyInsecure(proof, other.Public(), nil))
	// Output:
	// 1024 bytes of 17acb45dd826
	// <nil>
	// proof rejected: the opening does not hold
}
