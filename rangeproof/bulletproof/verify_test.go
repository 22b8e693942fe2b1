package bulletproof

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/transcript"
)

// Within one proof, and of one equation in two proofs: errors of the two equations that would cancel if both had
// the same weight. taux + 1 adds h to the first, mu + 1 takes it from the
// second; the challenges are kept as they were.
func TestEquationsAreWeightedApart(t *testing.T) {
	t.Parallel()
	p := newProtocol(t, Config{Bits: 4, MaxCommitments: 1})
	st := newStatement(t, p, 3, 9)
	pf := prove(t, p, st)
	tr := bound(p, "ctx")
	replayed := must.Get(p.Replay(&tr, st.V, pf))(t)
	eq := replayed.(*equations[scalar, point])
	sum := func(all ...*equations[scalar, point]) bool {
		acc := group.NewAccumulator(p.basis, 16)
		weights := group.NewWeights(p.g, transcript.XOF("weights"))
		for _, eq := range all {
			eq.Accumulate(acc, weights)
		}
		return must.Get(acc.IsZero(t.Context(), executor.Serial()))(t)
	}
	if !sum(eq, eq) {
		t.Fatal("good equations do not hold")
	}
	eq.proof = clone(pf)
	eq.proof.Scalars[0] = plus(pf.Scalars[0], num(1))
	eq.proof.Scalars[1] = plus(pf.Scalars[1], num(1))
	if sum(eq) {
		t.Error("opposite errors of the two equations cancel")
	}
	for i, name := range []string{"first", "second"} {
		more, less := *eq, *eq
		more.proof, less.proof = clone(pf), clone(pf)
		more.proof.Scalars[i] = plus(pf.Scalars[i], num(1))
		p.g.Neg(&less.proof.Scalars[i], &more.proof.Scalars[i])
		less.proof.Scalars[i] = plus(less.proof.Scalars[i], plus(pf.Scalars[i], pf.Scalars[i])) // one less
		if sum(&more, &less) {
			t.Errorf("opposite errors of two proofs' %s equations cancel", name)
		}
	}
}

// zeroGroup reduces one challenge to zero, when left others have been drawn.
type zeroGroup struct {
	group.Group[scalar, point]
	left *int
}

func (z zeroGroup) ScalarFromWide(wide []byte) scalar {
	*z.left--
	if *z.left == -1 {
		return scalar{}
	}
	return z.Group.ScalarFromWide(wide)
}

// y, z, x, cU and the x_j are refused when they are zero, by both sides.
func TestZeroChallengesAreRefused(t *testing.T) {
	t.Parallel()
	cfg := Config{Bits: 4, MaxCommitments: 1, Stop: 2}
	p := newProtocol(t, cfg)
	st := newStatement(t, p, 9, 7)
	pf := prove(t, p, st)
	basis := *testBasis(t)
	left := new(int)
	basis.Group = zeroGroup{basis.Group, left}
	q := must.Get(New(&basis, cfg))(t)
	d := cfg.dims(1)
	total := 4 + d.rounds
	for n := 0; n <= total; n++ {
		var want error
		if n < total {
			want = zkbench.ErrProof
		}
		tr := bound(p, "ctx")
		*left = n
		must.FailGet(q.Replay(&tr, st.V, pf))(t, want, "challenge %d zero: Replay", n)
		tr = bound(p, "ctx")
		*left = n + 2*d.N + 4 // after the nonces
		must.FailGet(q.Prove(t.Context(), executor.Serial(), &tr, st.V, st.w, st.nonces))(t, want, "challenge %d zero: Prove", n)
	}
}
