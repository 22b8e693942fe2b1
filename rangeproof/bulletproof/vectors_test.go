package bulletproof

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/rangeproof"
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

// One single and one aggregated proof from fixed seeds: the transcript, the
// nonces, the generators and the encodings in one file.
func TestVectors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		cfg    Config
		values []uint64
	}{
		{"bn254_bits8.txt", Config{Bits: 8, MaxCommitments: 1}, []uint64{173}},
		{"bn254_bits8_agg3.txt", Config{Bits: 8, MaxCommitments: 3}, []uint64{173, 0, 255}},
	} {
		p := newProtocol(t, tc.cfg)
		st := newStatement(t, p, 2017, tc.values...)
		pf := prove(t, p, st)
		if !accepts(t, p, st, pf) {
			t.Fatalf("%s: rejected", tc.name)
		}
		var out strings.Builder
		line := func(key string, b []byte) { fmt.Fprintf(&out, "%s %s\n", key, hex.EncodeToString(b)) }
		fmt.Fprintf(&out, "bits %d\nmax-commitments %d\nstop %d\nvalues %v\n", p.cfg.Bits, p.cfg.MaxCommitments, p.cfg.Stop, tc.values)
		line("seed", st.nonces.Seed[:])
		for j := range st.V {
			line(fmt.Sprintf("blinding[%d]", j), p.g.AppendScalars(nil, st.w.Blindings[j]))
			line(fmt.Sprintf("V[%d]", j), p.g.AppendPoints(nil, st.V[j]))
		}
		names := []string{"A", "S", "T1", "T2"}
		for j := range (len(pf.Points) - 4) / 2 {
			names = append(names, fmt.Sprintf("L[%d]", j), fmt.Sprintf("R[%d]", j))
		}
		for i, name := range names {
			line(name, p.g.AppendPoints(nil, pf.Points[i]))
		}
		line("taux", p.g.AppendScalars(nil, pf.Scalars[0]))
		line("mu", p.g.AppendScalars(nil, pf.Scalars[1]))
		line("tHat", p.g.AppendScalars(nil, pf.Scalars[2]))
		last := (len(pf.Scalars) - 3) / 2
		line("a", p.g.AppendScalars(nil, pf.Scalars[3:3+last]...))
		line("b", p.g.AppendScalars(nil, pf.Scalars[3+last:]...))
		golden.Check(t, "bulletproof/"+tc.name, out.String())

		// What is on file verifies after decoding, too.
		back := must.Get(rangeproof.DecodeProof(p.g, p.Shape(len(st.V)), encode(p, pf)))(t)
		if !accepts(t, p, st, back) {
			t.Errorf("%s: rejected after decoding", tc.name)
		}
	}
}
