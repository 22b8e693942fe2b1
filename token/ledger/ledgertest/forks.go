package ledgertest

import (
	"context"
	"errors"
	"testing"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// forks tests that a fork has the records of its parent, cannot be opened without them, and
// continues with its own records.
func forks(t *testing.T, s Stores) {
	ctx := context.Background()
	batches := [][]ledger.Entry{
		{Issue("a", 2), Spend("b", token.ID("a/0"))},
		{AtSecond(100, Update(0))},
		{AtSecond(100, UnderPolicy(1, Spend("c", token.ID("a/1"))))},
	}
	parent, _ := s.New(t)
	states := []ledger.State{State(t, parent)}
	for _, b := range batches {
		Apply(t, parent, b...)
		states = append(states, State(t, parent))
	}
	fork := func(g ledger.Genesis, s ledger.State) ledger.Genesis {
		t.Helper()
		g, err := g.Fork(s.Last, s.Policy, s.Root)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	create := func(g ledger.Genesis) (l Verifier, place string) {
		t.Helper()
		place = s.Place(t)
		l, err := s.Create(t, place, g)
		if err != nil {
			t.Fatal(err)
		}
		return l, place
	}
	shut := func(l Verifier) {
		t.Helper()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// whole makes a fork, opens it again, and continues with it.
	roots := map[[32]byte]bool{}
	whole := func(g ledger.Genesis, copied int) (state ledger.State) {
		t.Helper()
		l, place := create(g)
		if copied > 0 {
			_, err := l.Verify(ctx, nil)
			Corrupt(t, err, "log", "a fork that is not complete, verified")
			shut(l)
			_, err = s.Open(t, place)
			Corrupt(t, err, "log", "a fork that is not complete, opened")
			l, place = create(g)
		}
		for _, b := range batches[:copied] {
			Apply(t, l, b...)
		}
		shut(l)
		l, err := s.Open(t, place)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		Verify(t, l)
		state = State(t, l)
		last := states[copied]
		if state.Last != last.Last || state.Policy != last.Policy || state.Time != last.Time || state.Root != last.Root || state.Commitment != last.Commitment {
			t.Errorf("%+v, the parent's is %+v", state, last)
		}
		own := AtSecond(100, UnderPolicy(state.Policy, Issue(place, 1)))
		Apply(t, l, own)
		Verify(t, l)
		if after := State(t, l); roots[after.Root] || after.Last != last.Last+1 {
			t.Errorf("%+v, or a root that another ledger has", after)
		} else {
			roots[after.Root] = true
		}
		return state
	}
	g := parent.Genesis()
	for copied := range states {
		whole(fork(g, states[copied]), copied)
	}
	first := fork(g, states[2])
	of := whole(first, 2)
	whole(fork(first, of), 2) // of a fork that has no records of its own
	if again := fork(first, states[1]); len(again.Forks) != 1 {
		t.Errorf("a fork before that of its parent: %+v", again)
	}

	// Records that are not the parent's do not make a fork complete.
	other := AtSecond(100, Update(0))
	other.Digest[0]++
	for name, batch := range map[string][]ledger.Entry{
		"another record": {other}, "another policy": {AtSecond(100, Issue("x", 1))}, "another record, and more": {other, batches[2][0]},
	} {
		l, _ := create(first)
		Apply(t, l, batches[0]...)
		if err := l.Apply(ctx, batch); !errors.As(err, new(*ledger.CorruptError)) {
			t.Errorf("%s: %v", name, err)
		}
		_ = l.Close()
	}
	// The parent's records do, in whatever batches they come.
	l, _ := create(first)
	defer l.Close()
	Apply(t, l, batches[0][0])
	Apply(t, l, batches[0][1], batches[1][0], batches[2][0])
	Verify(t, l)
}
