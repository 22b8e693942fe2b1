// Command kryptology measures github.com/coinbase/kryptology v1.8.0:
// Bulletproofs (Bünz et al. 2017/1066) over Ed25519. The library proves one
// value at a time and has no batch verification. So the command has no cases
// for several values or for batches.
package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/coinbase/kryptology/pkg/bulletproof"
	"github.com/coinbase/kryptology/pkg/core/curves"
	"github.com/gtank/merlin"

	"github.com/zkbench/zkbench/peers/go/contract"
)

func main() {
	var cases []contract.Case
	for _, bits := range []int{32, 64} {
		cases = append(cases,
			contract.Case{
				Name:  fmt.Sprintf("RangeProve/bits=%d/m=1", bits),
				Setup: func() (func() error, int, error) { return rangeProve(bits) },
			},
			contract.Case{
				Name:  fmt.Sprintf("RangeVerify/bits=%d/m=1", bits),
				Setup: func() (func() error, int, error) { return rangeVerify(bits) },
			})
	}
	os.Exit(contract.Serve(os.Args[1:], os.Stdout, os.Stderr, cases))
}

// fixture is one statement with its witness, and the generators that every user
// of the module makes once per process.
type fixture struct {
	bits     int
	curve    *curves.Curve
	prover   *bulletproof.RangeProver
	verifier *bulletproof.RangeVerifier
	g, h, u  curves.Point
	v, gamma curves.Scalar
}

func newFixture(bits int) (*fixture, error) {
	curve := curves.ED25519()
	rangeDomain, ippDomain := []byte("zkbench/peer/range"), []byte("zkbench/peer/ipp")
	prover, err := bulletproof.NewRangeProver(bits, rangeDomain, ippDomain, *curve)
	if err != nil {
		return nil, err
	}
	verifier, err := bulletproof.NewRangeVerifier(bits, rangeDomain, ippDomain, *curve)
	if err != nil {
		return nil, err
	}
	seed := [32]byte{byte(bits)}
	inputs := rand.NewChaCha8(seed)
	var value [32]byte // little-endian, like this curve's scalars
	if _, err := inputs.Read(value[:bits/8]); err != nil {
		return nil, err
	}
	v, err := curve.Scalar.SetBytes(value[:])
	if err != nil {
		return nil, err
	}
	return &fixture{
		bits:     bits,
		curve:    curve,
		prover:   prover,
		verifier: verifier,
		g:        curve.Point.Random(inputs),
		h:        curve.Point.Random(inputs),
		u:        curve.Point.Random(inputs),
		v:        v,
		gamma:    curve.Scalar.Random(inputs),
	}, nil
}

func transcript() *merlin.Transcript { return merlin.NewTranscript("zkbench/peer") }

// prove returns the proof and the commitment, both encoded.
func (f *fixture) prove() (proof, commitment []byte, err error) {
	p, err := f.prover.Prove(f.v, f.gamma, f.bits, f.g, f.h, f.u, transcript())
	if err != nil {
		return nil, nil, err
	}
	capV := f.h.Mul(f.gamma).Add(f.g.Mul(f.v))
	return p.MarshalBinary(), capV.ToAffineCompressed(), nil
}

func (f *fixture) verify(proof, commitment []byte) error {
	p := bulletproof.NewRangeProof(f.curve)
	if err := p.UnmarshalBinary(proof); err != nil {
		return err
	}
	capV, err := f.curve.Point.FromAffineCompressed(commitment)
	if err != nil {
		return err
	}
	ok, err := f.verifier.Verify(p, capV, f.g, f.h, f.u, f.bits, transcript())
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("proof rejected")
	}
	return nil
}

// proved returns a fixture with its proof and commitment, after verifying the
// proof.
func proved(bits int) (f *fixture, proof, commitment []byte, err error) {
	if f, err = newFixture(bits); err != nil {
		return nil, nil, nil, err
	}
	if proof, commitment, err = f.prove(); err != nil {
		return nil, nil, nil, err
	}
	return f, proof, commitment, f.verify(proof, commitment)
}

// rangeProve times committing to the value, proving, and encoding both results.
func rangeProve(bits int) (op func() error, proofBytes int, err error) {
	f, proof, _, err := proved(bits)
	if err != nil {
		return nil, 0, err
	}
	return func() error {
		_, _, err := f.prove()
		return err
	}, len(proof), nil
}

// rangeVerify times decoding the proof and the commitment and verifying the
// proof.
func rangeVerify(bits int) (op func() error, proofBytes int, err error) {
	f, proof, commitment, err := proved(bits)
	if err != nil {
		return nil, 0, err
	}
	if f.verify(proof, f.g.ToAffineCompressed()) == nil {
		return nil, 0, errors.New("a proof for another commitment was accepted")
	}
	return func() error { return f.verify(proof, commitment) }, len(proof), nil
}
