package srs_test

import (
	"context"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/srs"
)

// A string of a seed that everybody knows, for measurements, and a commitment under it: x²
// at 3 is 9.
func ExampleInsecure() {
	s, err := srs.Insecure(context.Background(), executor.Pool(), 16, 1)
	if err != nil {
		panic(err)
	}
	square := []fr.Element{fr.NewElement(0), fr.NewElement(0), fr.NewElement(1)}
	commitment, err := kzg.Commit(square, s.Canonical.Pk)
	if err != nil {
		panic(err)
	}
	proof, err := kzg.Open(square, fr.NewElement(3), s.Canonical.Pk)
	if err != nil {
		panic(err)
	}
	err = kzg.Verify(&commitment, &proof, fr.NewElement(3), s.Canonical.Vk)
	fmt.Println(&proof.ClaimedValue, err)
	// Output: 9 <nil>
}
