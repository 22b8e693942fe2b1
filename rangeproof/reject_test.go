package rangeproof_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// altered yields proofs that differ from one in one place: every point and scalar in several
// ways, and every pair of neighbours swapped.
func altered(pf *bnProof) iter.Seq2[string, *bnProof] {
	g, key := group.BN254(), longBasis().Points[:2]
	one := g.ScalarFromUint64(1)
	points := map[string]func(p []point, i int){
		"plus G":        func(p []point, i int) { p[i] = sum(p[i], key[0]) },
		"plus H":        func(p []point, i int) { p[i] = sum(p[i], key[1]) },
		"negated":       func(p []point, i int) { p[i].Neg(&p[i]) },
		"made identity": func(p []point, i int) { p[i] = point{} },
		"swapped":       func(p []point, i int) { j := (i + 1) % len(p); p[i], p[j] = p[j], p[i] },
	}
	scalars := map[string]func(s []scalar, i int){
		"plus 1":  func(s []scalar, i int) { s[i].Add(&s[i], &one) },
		"negated": func(s []scalar, i int) { s[i].Neg(&s[i]) },
		"made 0":  func(s []scalar, i int) { s[i] = scalar{} },
		"swapped": func(s []scalar, i int) { j := (i + 1) % len(s); s[i], s[j] = s[j], s[i] },
	}
	return func(yield func(string, *bnProof) bool) {
		for i := range pf.Points {
			for how, change := range points {
				q := clone(pf)
				if change(q.Points, i); !yield(fmt.Sprintf("point %d %s", i, how), q) {
					return
				}
			}
		}
		for i := range pf.Scalars {
			for how, change := range scalars {
				q := clone(pf)
				if change(q.Scalars, i); !yield(fmt.Sprintf("scalar %d %s", i, how), q) {
					return
				}
			}
		}
	}
}

func TestEveryItemOfAProofCounts(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		for _, params := range c.damaged {
			p := c.protocol(t, params)
			st := newStatement(5, []uint64{maxValue(params.bits), 1, 6}[:params.m]...)
			good := prove(t, p, st)
			must.Do(t, verify(p, bound(p, "ctx"), st.V, good))
			for name, bad := range altered(good) {
				must.Fail(t, verify(p, bound(p, "ctx"), st.V, bad), zkbench.ErrProof, "%v: %s", params, name)
			}
		}
	})
}

// Every byte of an encoded proof, one bit each: not decodable, or rejected.
func TestEveryByteCounts(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		p := c.protocol(t, parameters{8, min(2, c.maxM), 2})
		st := newStatement(5, []uint64{255, 17}[:p.MaxCommitments()]...)
		wire := []byte(encode(prove(t, p, st)))
		for i := range wire {
			bad := slices.Clone(wire)
			bad[i] ^= 1 << (i % 8)
			want := zkbench.ErrMalformed
			pf, err := rangeproof.DecodeProof(group.BN254(), p.Shape(p.MaxCommitments()), bad)
			if err == nil {
				want, err = zkbench.ErrProof, verify(p, bound(p, "ctx"), st.V, pf)
			}
			must.Fail(t, err, want, "byte %d", i)
		}
	})
}

// recording is a group that records the challenges it reduces.
type recording struct {
	group.Group[scalar, point]
	challenges *[]scalar
}

func (r recording) ScalarFromWide(wide []byte) scalar {
	s := r.Group.ScalarFromWide(wide)
	*r.challenges = append(*r.challenges, s)
	return s
}

// Every message changes every challenge that follows it, none that precedes it, and the final
// state, the last vectors too: nothing that enters an equation is unbound, and what a caller
// draws or joins afterwards depends on all of the proof and its statement.
func TestEveryItemIsAbsorbed(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		var challenges []scalar
		watched := *longBasis()
		watched.Group = recording{watched.Group, &challenges}
		p := must.Get(c.build(&watched, parameters{9, min(2, c.maxM), 2}))(t)
		st := newStatement(5, []uint64{500, 1}[:p.MaxCommitments()]...)
		good := prove(t, p, st)
		states := map[[transcript.StateLen]byte]string{}
		replay := func(name string, V []point, pf *bnProof) []scalar {
			t.Helper()
			challenges = nil
			tr := bound(p, "ctx")
			must.Get(p.Replay(&tr, V, pf))(t)
			if other, ok := states[tr.State()]; ok {
				t.Errorf("%s ends in the transcript state of %s", name, other)
			}
			states[tr.State()] = name
			return challenges
		}
		base := replay("good", st.V, good)
		rounds := (len(good.Points) - len(c.points)) / 2
		if len(base) != c.rounds+rounds || rounds == 0 {
			t.Fatalf("%d challenges, want %d and one for each of %d rounds", len(base), c.rounds, rounds)
		}
		test := func(name string, before int, V []point, pf *bnProof) {
			t.Helper()
			for i, got := range replay(name, V, pf) {
				golden.Equal(t, fmt.Sprintf("%s: challenge %d unchanged", name, i), i < before, got == base[i])
			}
		}
		for j := range st.V {
			V := slices.Clone(st.V)
			V[j].Neg(&V[j])
			test(fmt.Sprintf("V %d", j), 0, V, good)
		}
		for i := range good.Points {
			before := c.rounds + (i-len(c.points))/2
			if i < len(c.points) {
				before = c.points[i]
			}
			pf := clone(good)
			pf.Points[i].Neg(&pf.Points[i])
			test(fmt.Sprintf("point %d", i), before, st.V, pf)
		}
		for i := range good.Scalars {
			before := len(base)
			if i < len(c.scalars) {
				before = c.scalars[i]
			}
			pf := clone(good)
			pf.Scalars[i].Neg(&pf.Scalars[i])
			test(fmt.Sprintf("scalar %d", i), before, st.V, pf)
		}
	})
}

func TestOtherStatementsAreRejected(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		p := c.protocol(t, parameters{8, c.maxM, 4})
		m := min(3, c.maxM)
		st := newStatement(9, []uint64{3, 200, 200}[:m]...)
		pf, key := prove(t, p, st), longBasis().Points[:2]
		must.Do(t, verify(p, bound(p, "ctx"), st.V, pf))
		var negated point
		negated.Neg(&st.V[0])
		statements := map[string][]point{
			"none":             nil,
			"too many":         slices.Repeat(st.V, 5),
			"another value":    {sum(st.V[0], key[0])},
			"another blinding": {sum(st.V[0], key[1])},
			"another opening":  {newStatement(10, 3).V[0]},
			"negated":          {negated},
			"identity":         {{}},
		}
		for name, V := range statements {
			if len(V) == 1 {
				statements[name] = append(V, st.V[1:]...)
			}
		}
		if V := st.V; m == 3 {
			statements["swapped"] = []point{V[1], V[0], V[2]}
			statements["swapped, equal values"] = []point{V[0], V[2], V[1]}
			statements["repeated"] = []point{V[0], V[1], V[1]}
			statements["dropped"] = V[:2]
			statements["one more"] = []point{V[0], V[1], V[2], V[2]}
		}
		for name, V := range statements {
			want := zkbench.ErrProof
			if len(V) == 0 || len(V) > c.maxM {
				want = zkbench.ErrParams
			}
			must.Fail(t, verify(p, bound(p, "ctx"), V, pf), want, "V %s", name)
		}
		must.Fail(t, verify(p, bound(p, "ctx"), st.V, prove(t, p, newStatement(10, st.w.Values...))), zkbench.ErrProof, "proof of another statement")
	})
}

// A proof replayed under another context, label or parameter set; the shapes are equal in most
// cases, so that the transcript alone must tell them apart.
func TestOtherParametersAreRejected(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		base := parameters{8, 1, 4}
		p := c.protocol(t, base)
		st := newStatement(9, 77)
		pf := prove(t, p, st)
		refused := func(name string, q bnProtocol, tr transcript.Transcript) {
			t.Helper()
			must.Fail(t, verify(q, tr, st.V, pf), zkbench.ErrProof, "other %s", name)
		}
		fork := bound(p, "ctx")
		refused("context", p, bound(p, "other"))
		refused("fork", p, fork.Fork("range", 1))
		refused("protocol", p, transcript.New("rangeproof-test"))
		others := []parameters{{7, 1, 4}, {9, 1, 4}, {16, 1, 4}, {8, 1, 5}, {8, 1, 3}, {8, 1, 2}}
		if c.maxM > 1 {
			others = append(others, parameters{8, 2, 4}, parameters{8, 3, 4})
		}
		start := bound(p, "ctx")
		absorbed := map[[transcript.StateLen]byte]parameters{start.State(): base}
		for _, params := range others {
			q := c.protocol(t, params)
			tr := bound(q, "ctx")
			refused(params.String(), q, tr)
			if same, ok := absorbed[tr.State()]; ok {
				t.Errorf("%v and %v absorb the same", params, same)
			}
			absorbed[tr.State()] = params
		}
		// 7 bits have the shape of 8: only the range differs.
		narrow := c.protocol(t, parameters{7, 1, 4})
		if narrow.Shape(1) != p.Shape(1) {
			t.Fatal("the case of 7 bits does not test what it should")
		}
		refused("range, same transcript", narrow, bound(p, "ctx"))
	})
}

func TestMisshapenProofs(t *testing.T) {
	each(t, func(t *testing.T, c construction) {
		p := c.protocol(t, parameters{8, 1, 4})
		st := newStatement(9, 77)
		good := prove(t, p, st)
		identity := func(i int) *bnProof {
			pf := clone(good)
			pf.Points[i] = point{}
			return pf
		}
		for name, pf := range map[string]*bnProof{
			"nil":                    nil,
			"empty":                  {},
			"point missing":          {Points: good.Points[1:], Scalars: good.Scalars},
			"scalar missing":         {Points: good.Points, Scalars: good.Scalars[1:]},
			"point too many":         {Points: append(clone(good).Points, st.V...), Scalars: good.Scalars},
			"scalar too many":        {Points: good.Points, Scalars: append(clone(good).Scalars, good.Scalars[0])},
			"identity for the first": identity(0),
			"identity in a round":    identity(len(c.points)),
			"identity for the last":  identity(len(good.Points) - 1),
		} {
			tr := bound(p, "ctx")
			must.FailGet(p.Replay(&tr, st.V, pf))(t, zkbench.ErrProof, "%s", name)
		}
	})
}
