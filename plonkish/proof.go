package plonkish

import (
	"fmt"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
)

// proof is what a prover sends, in its order.
type proof struct {
	columns  []bn254.G1Affine // of the layout's witness
	quotient []bn254.G1Affine // its pieces
	values   []fr.Element     // of the layout's opened
	opening  [2]bn254.G1Affine
}

// witness are the columns that a proof commits to, in the order of its commitments.
func (l *layout) witness() []variable {
	var columns []variable
	for _, v := range l.committed {
		if !v.kind.fixed() {
			columns = append(columns, v)
		}
	}
	return columns
}

// firstColumns is the number of columns that are committed to before the first challenge.
func (l *layout) firstColumns() int {
	return len(slices.DeleteFunc(l.witness(), func(v variable) bool { return v.kind >= product }))
}

func (l *layout) newProof() *proof {
	return &proof{
		columns:  make([]bn254.G1Affine, len(l.witness())),
		quotient: make([]bn254.G1Affine, l.pieces),
		values:   make([]fr.Element, len(l.opened)),
	}
}

// parts calls for all points and values in the order of the encoding.
func (p *proof) parts(point func(name string, i int, p *bn254.G1Affine), value func(name string, i int, v *fr.Element)) {
	for i := range p.columns {
		point("columns", i, &p.columns[i])
	}
	for i := range p.quotient {
		point("quotient", i, &p.quotient[i])
	}
	for i := range p.values {
		value("values", i, &p.values[i])
	}
	for i := range p.opening {
		point("opening", i, &p.opening[i])
	}
}

// ProofLen is the length in bytes of a proof.
func (k *VerifyingKey) ProofLen() int {
	p := k.newProof()
	return bn254.SizeOfG1AffineCompressed*(len(p.columns)+len(p.quotient)+len(p.opening)) + fr.Bytes*len(p.values)
}

func (p *proof) encode() []byte {
	var out []byte
	p.parts(
		func(_ string, _ int, p *bn254.G1Affine) { b := p.Bytes(); out = append(out, b[:]...) },
		func(_ string, _ int, v *fr.Element) { b := v.Bytes(); out = append(out, b[:]...) },
	)
	return out
}

// decode is the proof of its one encoding.
func (l *layout) decode(in []byte) (*proof, error) {
	p := l.newProof()
	var err error
	fail := func(name string, i, at int, reason string) {
		if err == nil {
			err = &zkbench.DecodeError{Path: fmt.Sprintf("%s[%d]", name, i), Offset: at, Reason: reason}
		}
	}
	at := 0
	next := func(name string, i, n int) []byte {
		if err == nil && len(in)-at < n {
			fail(name, i, at, fmt.Sprintf("%d bytes where %d are needed", len(in)-at, n))
		}
		if err != nil {
			return nil
		}
		at += n
		return in[at-n : at]
	}
	p.parts(
		func(name string, i int, p *bn254.G1Affine) {
			b := next(name, i, bn254.SizeOfG1AffineCompressed)
			if b == nil {
				return
			}
			if _, e := p.SetBytes(b); e != nil {
				fail(name, i, at-len(b), "not a point of the curve")
			} else if p.IsInfinity() {
				fail(name, i, at-len(b), "the identity")
			} else if p.Bytes() != [bn254.SizeOfG1AffineCompressed]byte(b) {
				fail(name, i, at-len(b), "not the canonical form of its point")
			}
		},
		func(name string, i int, v *fr.Element) {
			if b := next(name, i, fr.Bytes); b != nil && v.SetBytesCanonical(b) != nil {
				fail(name, i, at-len(b), "not below the field's order")
			}
		},
	)
	if err == nil && at < len(in) {
		fail("end", 0, at, fmt.Sprintf("%d bytes too many", len(in)-at))
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}
