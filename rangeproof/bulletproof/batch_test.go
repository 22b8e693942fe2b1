package bulletproof

import (
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// Eight proofs of several sizes in one accumulator: all good, then each of them
// bad in turn; and two bad ones whose errors cancel where weights are equal.
func TestBatch(t *testing.T) {
	t.Parallel()
	const size = 8
	p := newProtocol(t, Config{Bits: 16, MaxCommitments: 3})
	statements := make([]statement, size)
	good := make([]*proof, size)
	for i := range statements {
		statements[i] = newStatement(t, p, uint64(i), []uint64{uint64(i) * 1000, 65535, 0}[:1+i%3]...)
		good[i] = prove(t, p, statements[i])
	}
	batch := func(pfs []*proof) bool {
		t.Helper()
		eqs := make([]rangeproof.Equations[scalar, point], size)
		final := transcript.New("batch")
		for i, pf := range pfs {
			tr := bound(p, "ctx")
			eq := must.Get(p.Replay(&tr, statements[i].V, pf))(t)
			eqs[i] = eq
			final.Join(tr)
		}
		state := final.State()
		weights := group.NewWeights(p.g, transcript.XOF("weights", state[:]))
		whole := group.NewAccumulator(p.basis, 0)
		for i, eq := range eqs {
			if i%2 == 0 {
				eq.Accumulate(whole, weights)
				continue
			}
			part := group.NewAccumulator(p.basis, 0)
			eq.Accumulate(part, weights)
			whole.Merge(part)
		}
		return must.Get(whole.IsZero(t.Context(), executor.Serial()))(t)
	}
	if !batch(good) {
		t.Fatal("batch of good proofs rejected")
	}
	for i := range good {
		pfs := append([]*proof(nil), good...)
		pfs[i] = clone(good[i])
		pfs[i].Scalars[i%3] = plus(pfs[i].Scalars[i%3], num(1))
		if batch(pfs) {
			t.Errorf("batch with bad proof %d accepted", i)
		}
	}
	pfs := append([]*proof(nil), good...)
	pfs[0], pfs[3] = clone(good[0]), clone(good[3])
	pfs[0].Scalars[0] = plus(pfs[0].Scalars[0], num(1))
	pfs[3].Scalars[0] = minus(pfs[3].Scalars[0], num(1))
	if batch(pfs) {
		t.Error("batch of two proofs with opposite errors accepted")
	}
}

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
