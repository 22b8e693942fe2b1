package srs_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"os"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/kzg"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/srs"
	"github.com/zkbench/zkbench/transcript"
)

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// square is x².
var square = []fr.Element{fr.NewElement(0), fr.NewElement(0), fr.NewElement(1)}

// A string of a seed that everybody knows is for measurements. Whoever derives τ from the seed opens x² at 3 to 10, so
// the string gives no key to verify with, unless it is asked for by that name.
func ExampleInsecure() {
	const seed = 1
	s := got(srs.Insecure(context.Background(), executor.Pool(), 16, seed))
	commitment := got(kzg.Commit(square, s.Canonical.Pk))

	// The forgery: [(τ² - 10) / (τ - 3)]G1.
	var wide [64]byte
	got(transcript.XOF("zkbench/v1/insecure-srs", binary.LittleEndian.AppendUint64(nil, seed)).Read(wide[:]))
	at, ten := fr.NewElement(3), fr.NewElement(10)
	var tau, over, quotient fr.Element
	tau.SetBytes(wide[:])
	over.Sub(&tau, &at)
	quotient.Square(&tau).Sub(&quotient, &ten).Div(&quotient, &over)
	_, _, g1, _ := bn254.Generators()
	forged := kzg.OpeningProof{H: bn254.BatchScalarMultiplicationG1(&g1, []fr.Element{quotient})[0], ClaimedValue: ten}

	fmt.Println("insecure:", s.Insecure())
	_, err := s.VerifyingKey()
	fmt.Println(err)
	fmt.Println("3² = 10, by a key of that name:", kzg.Verify(&commitment, &forged, at, *s.InsecureVerifyingKey()))
	// Output:
	// insecure: true
	// invalid parameters: insecure reference string, accepted is that of a file with a published hash (ReadPtau)
	// 3² = 10, by a key of that name: <nil>
}

// A file counts by the hash that its ceremony has published, and not by its points: anybody makes a file of a τ of one's own.
func ExampleReadPtau() {
	ctx, ex := context.Background(), executor.Pool()
	file := got(os.ReadFile("../testdata/srs/powers3.ptau"))
	published := got(srs.PublishedHash(`
		c90ff801 013b9ae9 eb4cff58 c8902068 08fb69d8 30f4cf7d d763deea eb46c947
		42ce9eca bae5a73c f24de493 ff58347f 941ee2bf 31f63813 8a0ea2be 03a4b69e`))
	s := got(srs.ReadPtau(ctx, ex, bytes.NewReader(file), int64(len(file)), 8, published))
	fmt.Println("contributions:", s.Contributions(), "insecure:", s.Insecure())

	commitment := got(kzg.Commit(square, s.Canonical.Pk))
	at := fr.NewElement(3)
	proof := got(kzg.Open(square, at, s.Canonical.Pk))
	key := got(s.VerifyingKey())
	fmt.Println("3² =", &proof.ClaimedValue, kzg.Verify(&commitment, &proof, at, *key))
	proof.ClaimedValue = fr.NewElement(10)
	fmt.Println("3² =", &proof.ClaimedValue, "refused:", kzg.Verify(&commitment, &proof, at, *key) != nil)

	// The same file by itself vouches for nothing.
	s = got(srs.ReadPtau(ctx, ex, bytes.NewReader(file), int64(len(file)), 8, srs.NoHashKnown()))
	fmt.Println("insecure:", s.Insecure())
	// Output:
	// contributions: 1 insecure: false
	// 3² = 9 <nil>
	// 3² = 10 refused: true
	// insecure: true
}
