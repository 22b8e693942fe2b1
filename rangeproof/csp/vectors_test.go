package csp

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
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

// A proof from fixed seeds that stops after three rounds of folding, two of them of odd lengths: a
// change of generators, transcript, nonces or layout changes these bytes.
func TestVector(t *testing.T) {
	t.Parallel()
	const bits, stop, value = 8, 4, 173
	g, context := group.BN254(), []byte("context")
	basis := must.Get(group.NewBasis(g, append(rangeproof.KeyFamilies(), Families(bits)...), group.TableOptions{Window: 4, Spacing: 8}))(t)
	p := must.Get(New(basis, Config{Bits: bits, Stop: stop}))(t)
	system := rangeproof.NewSystem(basis, p)
	blinding := must.Get(system.RandomBlinding(transcript.XOF("zkbench/v1/test", []byte("blinding 0"))))(t)
	var seed [transcript.SeedLen]byte
	_, _ = transcript.XOF("zkbench/v1/test", []byte("seed")).Read(seed[:])
	V, proof, err := system.Prove(t.Context(), executor.Serial(), context, []uint64{value}, [][]byte{blinding}, bytes.NewReader(seed[:]))
	must.Do(t, err)

	var v golden.Vector
	v.Remark("A range proof by itself: docs/transcript.md, docs/rangeproofs.md")
	v.Word("group", g.Domain())
	v.Word("range-proof", p.Name())
	v.Word("bits", bits)
	v.Word("stop", stop)
	v.Bytes("context", context)
	v.Word("value", value)
	v.Bytes("blinding", blinding)
	v.Bytes("seed", seed[:])
	v.Bytes("V", V)
	split := p.Shape(1).Points * g.PointLen()
	v.Parts(proof[:split], append([]string{"P", "M"}, golden.Indexed(p.rounds(), "A", "B")...)...)
	v.Parts(proof[split:], append([]string{"ax", "mu", "phi"}, golden.Indexed(p.lens[p.rounds()], "z")...)...)
	golden.Check(t, "csp/vector_bits8_stop4.txt", v.String())

	// What the file says is decoded and accepted.
	claim := must.Get(system.Decode(context, 1, V, proof))(t)
	must.Do(t, system.Verify(t.Context(), executor.Serial(), claim))
}
