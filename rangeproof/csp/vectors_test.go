package csp

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/rangeproof"
)

// The size of a proof on BN254 at the default stop, per bit length.
func TestProofSizes(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	var b bytes.Buffer
	fmt.Fprintln(&b, "bits,points,scalars,bytes")
	for bits := 1; bits <= MaxBits; bits++ {
		p := newProtocol(t, bits, 0)
		_, proof := prove(t, p, "size", 1)
		enc := g.AppendScalars(g.AppendPoints(nil, proof.Points...), proof.Scalars...)
		s := p.Shape(1)
		golden.Equal(t, fmt.Sprintf("bits=%d: bytes", bits), s.Points*g.PointLen()+s.Scalars*g.ScalarLen(), len(enc))
		fmt.Fprintf(&b, "%d,%d,%d,%d\n", bits, s.Points, s.Scalars, len(enc))
	}
	golden.Check(t, "csp/proof_sizes.csv", b.String())
}

// A proof from a fixed seed: a change of generators, transcript, nonces or
// layout changes these bytes.
func TestVector(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	p := newProtocol(t, 8, 4)
	V, proof := prove(t, p, "vector", 173)
	var b bytes.Buffer
	line := func(name string, data []byte) { fmt.Fprintf(&b, "%s %s\n", name, hex.EncodeToString(data)) }
	line("V", g.AppendPoints(nil, V))
	for _, q := range proof.Points {
		line("point", g.AppendPoints(nil, q))
	}
	for _, s := range proof.Scalars {
		line("scalar", g.AppendScalars(nil, s))
	}
	golden.Check(t, "csp/vector_bits8_stop4.txt", b.String())

	// What the file says is decoded and accepted.
	decoded := must.Get(rangeproof.DecodeProof(g, p.Shape(1), rangeproof.AppendProof(g, nil, proof)))(t)
	must.Do(t, verify(p, "vector", V, decoded))
}
