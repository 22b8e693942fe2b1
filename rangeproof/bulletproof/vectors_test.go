package bulletproof

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// Proof sizes at the default stop, for every bit length and up to four
// commitments; bytes with points and scalars of 32 bytes.
func TestProofSizes(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	rows := [][]string{{"bits", "m", "vector_length", "rounds", "points", "scalars", "bytes_bn254"}}
	for bits := 1; bits <= MaxBits; bits++ {
		p := newProtocol(t, Config{Bits: bits, MaxCommitments: testCommitments})
		for m := 1; m <= testCommitments; m++ {
			d, s := p.cfg.dims(m), p.Shape(m)
			row := make([]string, 0, len(rows[0]))
			for _, v := range []int{bits, m, d.N, d.rounds, s.Points, s.Scalars, s.Points*p.g.PointLen() + s.Scalars*p.g.ScalarLen()} {
				row = append(row, strconv.Itoa(v))
			}
			rows = append(rows, row)
		}
	}
	must.Do(t, w.WriteAll(rows))
	golden.Check(t, "bulletproof/proof_sizes.csv", out.String())
}

// A single and an aggregated proof from fixed seeds: transcript, nonces, generators and encodings in
// one file, for others to hold theirs to.
func TestVectors(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	for _, tc := range []struct {
		name   string
		cfg    Config
		values []uint64
	}{
		{"bn254_bits8.txt", Config{Bits: 8, MaxCommitments: 1, Stop: DefaultStop}, []uint64{173}},
		{"bn254_bits8_agg3.txt", Config{Bits: 8, MaxCommitments: 3, Stop: DefaultStop}, []uint64{173, 0, 255}},
	} {
		m, context := len(tc.values), []byte("context")
		basis := must.Get(group.NewBasis(g, append(rangeproof.KeyFamilies(), Families(tc.cfg.Bits, m, tc.cfg.Stop)...), group.TableOptions{Window: 4, Spacing: 8}))(t)
		p := must.Get(New(basis, tc.cfg))(t)
		system := rangeproof.NewSystem(basis, p)
		blindings := make([][]byte, m)
		for j := range blindings {
			blindings[j] = must.Get(system.RandomBlinding(transcript.XOF("zkbench/v1/test", fmt.Appendf(nil, "blinding %d", j))))(t)
		}
		var seed [transcript.SeedLen]byte
		_, _ = transcript.XOF("zkbench/v1/test", []byte("seed")).Read(seed[:])
		commitments, proof, err := system.Prove(t.Context(), executor.Serial(), context, tc.values, blindings, bytes.NewReader(seed[:]))
		must.Do(t, err)

		var v golden.Vector
		v.Remark("A range proof by itself: docs/transcript.md, docs/rangeproofs.md")
		v.Word("group", g.Domain())
		v.Word("range-proof", p.Name())
		v.Word("bits", tc.cfg.Bits)
		v.Word("max-commitments", tc.cfg.MaxCommitments)
		v.Word("stop", tc.cfg.Stop)
		v.Bytes("context", context)
		for j := range m {
			v.Word(fmt.Sprintf("value[%d]", j), tc.values[j])
			v.Bytes(fmt.Sprintf("blinding[%d]", j), blindings[j])
		}
		v.Bytes("seed", seed[:])
		v.Parts(commitments, golden.Indexed(m, "V")...)
		split, last := p.Shape(m).Points*g.PointLen(), p.cfg.dims(m).last
		v.Parts(proof[:split], append([]string{"A", "S", "T1", "T2"}, golden.Indexed(p.cfg.dims(m).rounds, "L", "R")...)...)
		v.Parts(proof[split:], append(append([]string{"taux", "mu", "tHat"}, golden.Indexed(last, "a")...), golden.Indexed(last, "b")...)...)
		golden.Check(t, "bulletproof/"+tc.name, v.String())

		// What is on file verifies.
		claim := must.Get(system.Decode(context, m, commitments, proof))(t)
		must.Do(t, system.Verify(t.Context(), executor.Serial(), claim))
	}
}
