package token

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
)

// TestVector holds the format: parameters, statement, openings, proof and the transcript's last state, all
// from fixed seeds. Each range-proof system has a transfer; the first has an issue and the transfer without range
// proofs, too.
func TestVector(t *testing.T) {
	var v golden.Vector
	v.Remark("Proofs of token actions from fixed seeds: docs/transcript.md, docs/token.md")
	for i, proofType := range ProofTypes() {
		p := newBN(t, Config{Bits: 8, ProofType: proofType})
		vectorOf(t, &v, p, []uint64{5, 3}, []uint64{7, 1})
		if i == 0 {
			vectorOf(t, &v, p, nil, []uint64{255, 0})
			vectorOf(t, &v, p, []uint64{9}, []uint64{9})
		}
	}
	golden.Check(t, "token/vector_bn254_bits8.txt", v.String())
}

// vectorOf writes a record of a transfer, or of an issue if there are no inputs.
func vectorOf(t *testing.T, v *golden.Vector, p *bnParams, inputs, outputs []uint64) {
	t.Helper()
	e := newExample(t, p, "vector", inputs, outputs)
	cfg, digest := p.Config(), p.Digest()
	v.Record()
	v.Word("group", p.g.Domain())
	v.Word("range-proof", p.rp.Name())
	v.Word("bits", cfg.Bits)
	if cfg.ProofType != CSP {
		v.Word("max-commitments", p.rp.MaxCommitments())
	}
	v.Word("stop", cfg.Stop)
	v.Bytes("params", digest[:])
	v.Word("kind", uint8(kindOf(len(inputs))))
	v.Bytes("context", e.st.Anchor)
	v.Bytes("action", e.st.Action)
	for _, side := range []struct {
		name     string
		points   []Field
		openings []Opening
	}{{"input", e.st.Inputs, e.w.Inputs}, {"output", e.st.Outputs, e.w.Outputs}} {
		for i := range side.points {
			item := func(what string) string { return fmt.Sprintf("%s%s[%d]", side.name, what, i) }
			v.Bytes(item(""), side.points[i].Bytes)
			v.Bytes(item("-type"), []byte(side.openings[i].Type))
			v.Word(item("-value"), side.openings[i].Value)
			v.Bytes(item("-blinding"), side.openings[i].Blinding)
		}
	}
	v.Bytes("seed", e.w.Seed[:])
	proof := e.prove(t, p)
	v.Bytes("proof", proof)

	decoded := must.Get(p.Decode(&e.st, Field{Bytes: proof}))(t)
	must.Do(t, p.Verify(t.Context(), executor.Serial(), decoded))
	var item rangeproof.Replayed[fr.Element, bn254.G1Affine]
	must.Do(t, decoded.(*claim[fr.Element, bn254.G1Affine]).replay(t.Context(), executor.Serial(), new(replayed[fr.Element, bn254.G1Affine]), &item))
	v.Bytes("state", item.State[:])
}
