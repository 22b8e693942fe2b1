package plonkish

import (
	"errors"
	"fmt"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
)

// proof is what a prover sends, in this order.
type proof struct {
	columns  []bn254.G1Affine // of the layout's witness
	quotient []bn254.G1Affine // its pieces
	values   []fr.Element     // of the layout's opened
	opening  [2]bn254.G1Affine
}

// witness returns the columns that a proof commits to, in the order of its commitments.
func (l *layout) witness() []variable {
	return slices.DeleteFunc(slices.Clone(l.committed), func(v variable) bool { return v.kind.fixed() })
}

// earlyColumns returns the number of columns that are committed to before any challenge.
func (l *layout) earlyColumns() int {
	early := len(l.arith.Columns) - l.arith.Late
	if l.arith.Late == 0 {
		return l.firstColumns()
	}
	return len(slices.DeleteFunc(l.witness(), func(v variable) bool { return v.kind > cell || v.index >= early }))
}

// firstColumns returns the number of columns that are committed to before the running product.
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

const pointLen, valueLen = bn254.SizeOfG1AffineCompressed, fr.Bytes

// ProofLen returns the length in bytes of a proof.
func (k *VerifyingKey) ProofLen() int {
	return pointLen*k.ProofPoints() + valueLen*len(k.opened)
}

// ProofPoints returns the number of points in a proof. A prover computes each point as a sum with one
// product for each row of the circuit.
func (k *VerifyingKey) ProofPoints() int {
	p := k.newProof()
	return len(p.columns) + len(p.quotient) + len(p.opening)
}

// encode returns columns, quotient, values and opening, in this order.
func (p *proof) encode() []byte {
	g := group.BN254()
	out := g.AppendPoints(nil, p.columns...)
	out = g.AppendPoints(out, p.quotient...)
	out = g.AppendScalars(out, p.values...)
	return g.AppendPoints(out, p.opening[:]...)
}

// decode returns the proof that has this encoding.
func (k *VerifyingKey) decode(in []byte) (*proof, error) {
	if want := k.ProofLen(); len(in) != want {
		return nil, &zkbench.DecodeError{Path: "proof", Offset: min(len(in), want), Reason: fmt.Sprintf("%d bytes; proofs of this key have %d", len(in), want)}
	}
	g, p := group.BN254(), k.newProof()
	// All points at once: their square roots are taken together.
	first := len(p.columns) + len(p.quotient)
	values, opening := first*pointLen, first*pointLen+len(p.values)*valueLen
	points := make([]bn254.G1Affine, first+len(p.opening))
	if err := g.DecodePoints(points, slices.Concat(in[:values], in[opening:]), group.Subgroup); err != nil {
		return nil, p.placeError(err)
	}
	copy(p.columns, points)
	copy(p.quotient, points[len(p.columns):])
	copy(p.opening[:], points[first:])
	if err := g.DecodeScalars(p.values, in[values:opening]); err != nil {
		if e, ok := errors.AsType[*zkbench.DecodeError](err); ok {
			return nil, e.Within("values", values)
		}
		return nil, err
	}
	return p, nil
}

// placeError turns an error about points that were decoded together into one about their place in the proof.
func (p *proof) placeError(err error) error {
	e, ok := errors.AsType[*zkbench.DecodeError](err)
	if !ok {
		return err
	}
	i, at := e.Offset/pointLen, e.Offset
	name := "columns"
	if i >= len(p.columns) {
		i, name = i-len(p.columns), "quotient"
	}
	if name == "quotient" && i >= len(p.quotient) {
		i, name, at = i-len(p.quotient), "opening", at+len(p.values)*valueLen
	}
	return &zkbench.DecodeError{Path: fmt.Sprintf("%s[%d]", name, i), Offset: at, Reason: e.Reason}
}
