package token

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/exectest"
	"github.com/zkbench/zkbench/internal/testing/faulttest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// TestFaults: a sum that could not be computed, whichever it was, is an error and neither a
// commitment, a proof nor a verdict.
func TestFaults(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, proofType := range ProofTypes() {
		p := newBN(t, Config{Bits: 4, ProofType: proofType})
		good := newExample(t, p, "good", []uint64{9, 4}, []uint64{3, 10})
		bad := newExample(t, p, "bad", []uint64{9, 4}, []uint64{3, 11})
		for _, e := range []*example{good, bad} {
			var proof []byte
			must.Do(t, faulttest.Each(t, executor.Serial(), func(ex executor.Executor) (err error) {
				proof, err = p.prove(ctx, ex, &e.st, &e.w)
				if (proof == nil) != (err != nil) {
					t.Errorf("%s: a proof of %d bytes, and %v", proofType, len(proof), err)
				}
				return err
			}))
			claim := must.Get(p.Decode(&e.st, Field{Bytes: proof}))(t)
			if err := faulttest.Each(t, executor.Serial(), func(ex executor.Executor) error { return p.Verify(ctx, ex, claim, claim) }); (err == nil) != (e == good) {
				t.Errorf("%s: %v", proofType, err)
			}
		}
		if err := faulttest.Each(t, executor.Serial(), func(ex executor.Executor) error {
			_, err := p.Commit(ctx, ex, good.w.Outputs)
			return err
		}); err != nil {
			t.Errorf("%s: %v", proofType, err)
		}
	}
}

// TestFaultsInTasks: the same on executors that cut sums and range proofs into tasks, and under contexts that end. What remains
// is a proof that verifies, and is the same on each executor.
func TestFaultsInTasks(t *testing.T) {
	t.Parallel()
	for _, proofType := range ProofTypes() {
		p := newBN(t, Config{Bits: 4, ProofType: proofType})
		// So many range proofs are replayed in two tasks, if each is of one output.
		e := newExample(t, p, "tasks", []uint64{15, 14}, []uint64{1, 2, 3, 4, 5, 6, 7, 1})
		want := e.prove(t, p)
		claim := must.Get(p.Decode(&e.st, Field{Bytes: want}))(t)
		for _, ex := range []executor.Executor{executor.Serial(), exectest.Wide(2)} {
			var proof []byte
			prove := func(ctx context.Context, ex executor.Executor) (err error) {
				if proof, err = p.prove(ctx, ex, &e.st, &e.w); (proof == nil) != (err != nil) {
					t.Errorf("%s on %s: a proof of %d bytes, and %v", proofType, ex.Name(), len(proof), err)
				}
				return err
			}
			verify := func(ctx context.Context, ex executor.Executor) error { return p.Verify(ctx, ex, claim) }
			for name, operation := range map[string]func(ctx context.Context, ex executor.Executor) error{"prove": prove, "verify": verify} {
				calls, err := exectest.EachRefused(t, ex, func(ex executor.Executor) error { return operation(t.Context(), ex) })
				must.Do(t, err)
				asked, err := exectest.EachEnded(t, ex, operation)
				must.Do(t, err)
				if calls < 1 || asked < 1 {
					t.Errorf("%s on %s, %s: only %d calls, asked only %d times", proofType, ex.Name(), name, calls, asked)
				}
			}
			golden.Equal(t, "proof="+proofType+" on "+ex.Name(), want, proof)
		}
	}
}

// TestEveryOutputHasARangeProof: of every action but one input to one output, the range proofs
// cover each output once, and each has points and scalars of its own behind those of the
// type-and-sum proof.
func TestEveryOutputHasARangeProof(t *testing.T) {
	t.Parallel()
	for _, proofType := range ProofTypes() {
		p := newBN(t, Config{Bits: 4, ProofType: proofType})
		for inputs := range 4 {
			for outputs := 1; outputs <= 9; outputs++ {
				l := p.layout(inputs, outputs)
				points, scalars := typeSumShape(kindOf(inputs))
				covered := 0
				for _, r := range l.ranges {
					if r.first != covered || r.last <= r.first || r.points != points || r.scalars != scalars || r.shape != p.rp.Shape(r.last-r.first) {
						t.Errorf("proof=%s, %d to %d: %+v", proofType, inputs, outputs, l)
					}
					covered, points, scalars = r.last, points+r.shape.Points, scalars+r.shape.Scalars
				}
				if inputs == 1 && outputs == 1 {
					covered++
				}
				if covered != outputs || l.points != points || l.scalars != scalars {
					t.Errorf("proof=%s, %d to %d: %+v", proofType, inputs, outputs, l)
				}
			}
		}
	}
}

// TestStart holds the transcript's opening and first challenges to what docs/token.md says, and a type's scalar to
// all bytes of its challenge.
func TestStart(t *testing.T) {
	t.Parallel()
	p := newBN(t, Config{Bits: 4})
	e := newExample(t, p, "start", []uint64{9, 4}, []uint64{1, 10, 2})
	want := transcript.New("token")
	want.Append("group", []byte("BN254"))
	digest := p.Digest()
	want.Append("params", digest[:])
	want.Append("kind", []byte{byte(Transfer)})
	want.AppendUint64("inputs", 2)
	want.AppendUint64("outputs", 3)
	want.Append("context", e.st.Anchor)
	want.Append("action", e.st.Action)
	for _, f := range e.st.Inputs {
		want.Append("input", f.Bytes)
	}
	for _, f := range e.st.Outputs {
		want.Append("output", f.Bytes)
	}
	if got := p.start(&e.st); got != want {
		t.Error("the transcript starts otherwise")
	}
	ts := typeSum[scalar, point]{points: p.basis.Points[:4]}
	got := want
	ts.absorbFirst(p.g, &got)
	var drawn [2]scalar
	for i, label := range []string{"type commitment", "A type", "A inputs", "A sum"} {
		want.Append(label, p.g.AppendPoints(nil, ts.points[i]))
		if i == 0 {
			wide := want.Challenge("rho")
			drawn[0] = p.g.ScalarFromWide(wide[:])
		}
	}
	last := want.Challenge("c")
	drawn[1] = p.g.ScalarFromWide(last[:])
	if drawn != [2]scalar{ts.rho, ts.c} || got != want {
		t.Error("the type-and-sum proof's challenges are others")
	}
	typ := transcript.New("type")
	typ.Append("type", []byte("USD"))
	wide := typ.Challenge("scalar")
	golden.Equal(t, "the type's scalar", p.g.ScalarFromWide(wide[:]), p.typeScalar("USD"))
}

// TestWitnessEncodings: no two witnesses have one encoding, since nonces and blindings are drawn
// from it: whatever moves between lists, openings or their parts changes it.
func TestWitnessEncodings(t *testing.T) {
	t.Parallel()
	a, b := Opening{"A", 1, []byte{1}}, Opening{"B", 2, []byte{2}}
	seen := make(map[string]string)
	for name, w := range map[string]Witness{
		"base":               {Inputs: []Opening{a}, Outputs: []Opening{b}},
		"swapped":            {Inputs: []Opening{b}, Outputs: []Opening{a}},
		"no inputs":          {Outputs: []Opening{a, b}},
		"no outputs":         {Inputs: []Opening{a, b}},
		"one less":           {Inputs: []Opening{a}},
		"type":               {Inputs: []Opening{{"C", 1, []byte{1}}}, Outputs: []Opening{b}},
		"last type":          {Inputs: []Opening{a}, Outputs: []Opening{{"C", 2, []byte{2}}}},
		"type grows":         {Inputs: []Opening{{"A\x00", 1, []byte{1}}}, Outputs: []Opening{b}},
		"value":              {Inputs: []Opening{a}, Outputs: []Opening{{"B", 3, []byte{2}}}},
		"blinding":           {Inputs: []Opening{a}, Outputs: []Opening{{"B", 2, []byte{3}}}},
		"type to value":      {Inputs: []Opening{{"", 'A', []byte{1}}}, Outputs: []Opening{b}},
		"openings as a type": {Inputs: []Opening{{"A\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01\x01", 1, []byte{1}}}},
	} {
		encoded := must.Get(encodeWitness(&w))(t)
		if other, dup := seen[string(encoded)]; dup {
			t.Errorf("%s is encoded as %s", name, other)
		}
		seen[string(encoded)] = name
	}
}

// TestBadOpenings: an opening that has no commitment, wherever it is, is refused before anything
// is drawn from it.
func TestBadOpenings(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := newBN(t, Config{Bits: 4})
	order := p.g.Order().FillBytes(make([]byte, 32))
	for name, c := range map[string]struct {
		spoil func(o *Opening)
		want  error
	}{
		"no type":         {func(o *Opening) { o.Type = "" }, zkbench.ErrParams},
		"long type":       {func(o *Opening) { o.Type = strings.Repeat("A", MaxType+1) }, zkbench.ErrLimit},
		"blinding r":      {func(o *Opening) { o.Blinding = order }, zkbench.ErrMalformed},
		"short blinding":  {func(o *Opening) { o.Blinding = o.Blinding[1:] }, zkbench.ErrMalformed},
		"longer blinding": {func(o *Opening) { o.Blinding = append(bytes.Clone(o.Blinding), 0) }, zkbench.ErrMalformed},
	} {
		for i := range 4 {
			e := newExample(t, p, "openings", []uint64{9, 4}, []uint64{3, 10})
			list := [][]Opening{e.w.Inputs, e.w.Outputs}[i/2]
			c.spoil(&list[i%2])
			where := fmt.Sprintf("%s at %d", name, i)
			if proof, err := p.prove(ctx, executor.Serial(), &e.st, &e.w); !errors.Is(err, c.want) || proof != nil {
				t.Errorf("%s: a proof of %d bytes, and %v", where, len(proof), err)
			}
			if got, err := p.Commit(ctx, executor.Serial(), list); !errors.Is(err, c.want) || got != nil {
				t.Errorf("%s: %d commitments, and %v", where, len(got), err)
			}
			if err := p.Blind(&e.w, e.st.Anchor); c.want != zkbench.ErrMalformed && !errors.Is(err, c.want) {
				t.Errorf("%s: blinded: %v", where, err)
			}
		}
	}
}

// TestBlind: every output has the blinding of its index, and nothing is blinded for a statement
// that there is none of.
func TestBlind(t *testing.T) {
	t.Parallel()
	p := newBN(t, Config{Bits: 4})
	e := newExample(t, p, "blind", []uint64{9, 4}, []uint64{3, 10})
	witness := must.Get(encodeWitness(&e.w))(t)
	want := p.deriveBlindings(e.w.Seed, Transfer, witness, e.st.Anchor, 2)
	must.Do(t, p.Blind(&e.w, e.st.Anchor))
	for j, o := range e.w.Outputs {
		golden.Equal(t, fmt.Sprintf("output %d: blinding", j), want[j], o.Blinding)
	}
	e.w.Outputs = nil
	must.Fail(t, p.Blind(&e.w, e.st.Anchor), zkbench.ErrParams, "no outputs")
}

// TestSecretsAreDerived: the prover's nonces and C's blinding are drawn from what docs/token.md
// says, the seed and the witness among it, each sub-proof's from its own transcript: first
// messages and range proofs are those that come of it.
func TestSecretsAreDerived(t *testing.T) {
	t.Parallel()
	ctx, ex := context.Background(), executor.Serial()
	for _, proofType := range ProofTypes() {
		p := newBN(t, Config{Bits: 4, ProofType: proofType})
		g := p.g
		e := newExample(t, p, "secrets", []uint64{9, 4}, []uint64{3, 10})
		c := must.Get(p.Decode(&e.st, Field{Bytes: e.prove(t, p)}))(t).(*claim[scalar, point])
		witness := must.Get(encodeWitness(&e.w))(t)
		tr, k, r := p.start(&e.st), make([]scalar, 5), make([]scalar, 1)
		sum := transcript.Nonces{Protocol: "type-and-sum", Seed: e.w.Seed}
		group.RandomScalars(g, k, sum.Stream(witness, &tr))
		group.RandomScalars(g, r, transcript.XOF("zkbench/v1/open", e.w.Seed[:], []byte{byte(Transfer)}, witness, e.st.Anchor, []byte("type")))
		rows, want := rowsOf[scalar](4, 3), make([]point, 4)
		rows[0][p.typ], rows[0][p.blinding] = p.typeScalar("USD"), r[0]
		rows[1][p.typ], rows[1][p.blinding] = k[0], k[1]
		rows[2][p.value], rows[2][p.blinding] = k[2], k[3]
		rows[3][p.blinding] = k[4]
		must.Do(t, p.basis.Table.MSM(ctx, ex, want, rows))
		for i := range want {
			if c.points[i] != want[i] {
				t.Errorf("proof=%s: point %d of the type-and-sum proof has other secrets", proofType, i)
			}
		}
		ts := typeSum[scalar, point]{points: c.points[:4], scalars: c.scalars[:5]}
		ts.absorbFirst(g, &tr)
		ts.absorbLast(g, &tr)
		outputs := must.Get(p.open(e.w.Outputs))(t)
		for i, at := range c.l.ranges {
			var V []point
			var w rangeproof.Witness[scalar]
			for j := at.first; j < at.last; j++ {
				var v point
				var blinding scalar
				g.SubPoints(&v, &c.outputs[j], &c.points[0])
				g.Sub(&blinding, &outputs[j].r, &r[0])
				V, w.Values, w.Blindings = append(V, v), append(w.Values, e.w.Outputs[j].Value), append(w.Blindings, blinding)
			}
			fork := tr.Fork("range", uint32(i))
			got := cut(&at, c.points, c.scalars)
			want, err := p.rp.Prove(ctx, ex, &fork, V, w, transcript.Nonces{Protocol: p.rp.Name(), Label: "range", Index: uint32(i), Seed: e.w.Seed})
			if err != nil || !slices.Equal(got.Points, want.Points) || !slices.Equal(got.Scalars, want.Scalars) {
				t.Errorf("proof=%s: range proof %d has other nonces (%v)", proofType, i, err)
			}
		}
	}
}

// TestSumsDoNotWrap: the prover adds in more than 64 bits.
func TestSumsDoNotWrap(t *testing.T) {
	t.Parallel()
	p := newBN(t, Config{Bits: 64})
	const half = 1 << 63
	for _, c := range []struct{ inputs, outputs []uint64 }{{[]uint64{half, half}, []uint64{0}}, {[]uint64{0}, []uint64{half, half}}} {
		e := newExample(t, p, "wrap", c.inputs, c.outputs)
		must.FailGet(p.Prove(context.Background(), executor.Serial(), &e.st, &e.w))(t, zkbench.ErrParams, "%d to %d", c.inputs, c.outputs)
	}
}

// TestCounts: what no action has is refused by prover and decoder alike.
func TestCounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inputs, outputs int
		ok              bool
	}{
		{0, 1, true},
		{0, MaxTokens, true},
		{1, 1, true},
		{MaxTokens, MaxTokens, true},
		{0, 0, false},
		{0, MaxTokens + 1, false},
		{1, 0, false},
		{MaxTokens + 1, 1, false},
		{1, MaxTokens + 1, false},
	} {
		if err := checkCounts(c.inputs, c.outputs); (err == nil) != c.ok || err != nil && !errors.Is(err, zkbench.ErrParams) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestEveryEquationCounts: a response that one equation alone sees is seen, errors of two proofs
// do not make up for each other, and what a range proof refuses before its equations is refused.
func TestEveryEquationCounts(t *testing.T) {
	t.Parallel()
	p := newBN(t, Config{Bits: 4})
	verify := func(claims ...Claim) error { return p.Verify(context.Background(), executor.Serial(), claims...) }
	refused := func(name string, claims ...Claim) {
		t.Helper()
		must.Fail(t, verify(claims...), zkbench.ErrProof, "%s", name)
	}
	one := p.g.ScalarFromUint64(1)
	for _, values := range [][2][]uint64{{{9}, {9}}, {{9, 4}, {3, 10}}} {
		e := newExample(t, p, "equations", values[0], values[1])
		proof := e.prove(t, p)
		decode := func(st *Statement) *claim[scalar, point] {
			decoded := must.Get(p.Decode(st, Field{Bytes: proof}))(t)
			return decoded.(*claim[scalar, point])
		}
		for i := range decode(&e.st).scalars {
			more, less := decode(&e.st), decode(&e.st)
			more.scalars[i].Add(&more.scalars[i], &one)
			less.scalars[i].Sub(&less.scalars[i], &one)
			refused(fmt.Sprintf("response %d", i), more)
			refused(fmt.Sprintf("responses %d of two proofs", i), more, less)
		}
		for i := range decode(&e.st).points {
			c := decode(&e.st)
			c.points[i] = point{}
			refused(fmt.Sprintf("point %d is the identity", i), c)
		}
		elsewhere := cloned(&e.st)
		elsewhere.Anchor = []byte("elsewhere")
		refused("another anchor", decode(&e.st).WithAnchor([]byte("elsewhere")))
		must.Do(t, verify(decode(elsewhere).WithAnchor(e.st.Anchor)), "the anchor put back")
	}
}
