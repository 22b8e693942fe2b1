package token

import (
	"context"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
	"github.com/zkbench/zkbench/rangeproof/csp"
	"github.com/zkbench/zkbench/transcript"
)

// TestOnlyOneToOneHasNoRangeProof merges two inputs whose sum is out of range: the
// type-and-sum proof of it holds, so nothing but the range proof can refuse it.
func TestOnlyOneToOneHasNoRangeProof(t *testing.T) {
	t.Parallel()
	for _, proofType := range ProofTypes() {
		p := newBN(t, Config{Bits: 8, ProofType: proofType})
		for n := 1; n <= MaxTokens; n++ {
			golden.Equal(t, fmt.Sprintf("proof=%s: range proofs of %d in, 1 out", proofType, n), min(1, n-1), len(p.layout(n, 1).ranges))
		}
		golden.Equal(t, fmt.Sprintf("proof=%s: range proofs of an issue of 1", proofType), 1, len(p.layout(0, 1).ranges))
		e := newExample(t, p, "merge", []uint64{200, 200}, []uint64{400})
		w := typeSumWitness[scalar]{r: p.g.ScalarFromUint64(4242)}
		w.inputs = must.Get(p.open(e.w.Inputs))(t)
		w.outputs = must.Get(p.open(e.w.Outputs))(t)
		w.t = w.outputs[0].t
		ts := typeSum[scalar, point]{points: make([]point, 4), scalars: make([]scalar, 5)}
		k := make([]scalar, 5)
		group.RandomScalars(p.g, k, transcript.XOF("nonces of the merge"))
		must.Do(t, p.basis.Table.MSM(context.Background(), executor.Serial(), ts.points, p.typeSumRows(&w, k, len(ts.points))))
		tr := p.start(&e.st)
		ts.absorbFirst(p.g, &tr)
		ts.respond(p.g, &w, k)
		raw := p.g.AppendScalars(p.g.AppendPoints(nil, ts.points...), ts.scalars...)
		must.Fail(t, check(p, &e.st, raw), zkbench.ErrMalformed, "proof=%s: a merge to a value out of range, without a range proof", proofType)
	}
}

// TestNoDerivedPointRepeats: what a prover derives from one seed is fresh wherever
// it must be. C is the same exactly for one seed, witness and context; two proofs of
// statements that differ in anything share none of the first messages, whose nonces
// would give the witness away.
func TestNoDerivedPointRepeats(t *testing.T) {
	t.Parallel()
	p := newBN(t, Config{Bits: 8})
	seenC, seenA := make(map[point]string), make(map[point]string)
	for _, c := range []struct {
		name   string
		change func(e *example)
		sameC  string
	}{
		{"base", func(*example) {}, ""},
		{"action", func(e *example) { e.st.Action[0] ^= 1 }, "base"},
		{"input", func(e *example) { e.st.Inputs[0] = e.st.Inputs[1] }, "base"},
		{"seed", func(e *example) { e.w.Seed[0] ^= 1 }, ""},
		{"context", func(e *example) { e.st.Anchor[0] ^= 1 }, ""},
		{"value", func(e *example) {
			e.w.Outputs[0].Value, e.w.Outputs[1].Value = e.w.Outputs[1].Value, e.w.Outputs[0].Value
		}, ""},
		{"blinding", func(e *example) { e.w.Inputs[0].Blinding = e.w.Inputs[1].Blinding }, ""},
		{"kind", func(e *example) { e.st.Inputs, e.w.Inputs = nil, nil }, ""},
	} {
		e := newExample(t, p, "derived", []uint64{40, 2}, []uint64{30, 12})
		c.change(e)
		proof := must.Get(p.prove(context.Background(), executor.Serial(), &e.st, &e.w))(t)
		n, _ := typeSumShape(kindOf(len(e.st.Inputs)))
		points := make([]point, n)
		must.Do(t, p.g.DecodePoints(points, proof[:n*p.PointLen()], group.OnCurve))
		if other := seenC[points[0]]; other != c.sameC {
			t.Errorf("%s: C is that of %q, want %q", c.name, other, c.sameC)
		} else if other == "" {
			seenC[points[0]] = c.name
		}
		for i, a := range points[1:] {
			if other, dup := seenA[a]; dup {
				t.Errorf("%s: first message %d is one of %s", c.name, i, other)
			}
			seenA[a] = c.name
		}
	}
}

// TestDigestIsOfEverything: the digest differs for another generator at any place,
// other numbers of them, another length, range-proof system, aggregation or stop.
func TestDigestIsOfEverything(t *testing.T) {
	t.Parallel()
	p := newBN(t, Config{Bits: 8})
	seen := map[[transcript.StateLen]byte]string{p.digest: "the parameters"}
	note := func(name string, digest [transcript.StateLen]byte) {
		if other, dup := seen[digest]; dup {
			t.Errorf("%s: the digest of %s", name, other)
		}
		seen[digest] = name
	}
	for i := range p.basis.Points {
		other := *p.basis
		other.Points = append([]point(nil), other.Points...)
		other.Points[i].Neg(&other.Points[i])
		note(fmt.Sprint("generator ", i), paramsDigest(&other, 8, p.rp))
	}
	elsewhere := *p.basis
	elsewhere.Group = renamed{elsewhere.Group}
	note("group", paramsDigest(&elsewhere, 8, p.rp))
	note("bits", paramsDigest(p.basis, 9, p.rp))
	families := p.basis.Families()
	for i := range families {
		more := append([]group.Family(nil), families...)
		more[i].Count++
		basis := must.Get(group.NewBasis(p.g, more, cheap))(t)
		// The same points: what differs is which family they are of.
		basis.Points = p.basis.Points
		note("count of "+families[i].Name, paramsDigest(basis, 8, p.rp))
	}
	for _, cfg := range []bulletproof.Config{
		{Bits: 8, MaxCommitments: 1, Stop: 1},
		{Bits: 8, MaxCommitments: 1, Stop: 2},
		{Bits: 8, MaxCommitments: 2, Stop: bulletproof.DefaultStop},
	} {
		note(fmt.Sprintf("%+v", cfg), paramsDigest(p.basis, 8, mustProtocol(t, cfg)))
	}
	basis := must.Get(group.NewBasis(p.g, append(rangeproof.KeyFamilies(), csp.Families(8)...), cheap))(t)
	other := must.Get(csp.New(basis, csp.Config{Bits: 8}))(t)
	note("range-proof system", paramsDigest(p.basis, 8, rangeproof.Protocol[scalar, point](other)))
}

// renamed is a group under another name.
type renamed struct{ group.Group[scalar, point] }

func (renamed) Domain() string { return "another" }

// mustProtocol returns a protocol over generators of its own.
func mustProtocol(t *testing.T, cfg bulletproof.Config) rangeproof.Protocol[scalar, point] {
	t.Helper()
	families := append(rangeproof.KeyFamilies(), bulletproof.Families(cfg.Bits, cfg.MaxCommitments, cfg.Stop)...)
	basis := must.Get(group.NewBasis(group.BN254(), families, cheap))(t)
	return must.Get(bulletproof.New(basis, cfg))(t)
}
