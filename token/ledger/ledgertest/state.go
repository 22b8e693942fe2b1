package ledgertest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// State returns the state of a ledger.
func State(t testing.TB, l ledger.Store) ledger.State {
	t.Helper()
	s, err := l.State(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// states tests that ApplyState replaces the stored bytes, also with an empty batch and with one that is on
// the ledger already, but not with a rejected batch. It also tests the other fields of State.
func states(t *testing.T, l Verifier) {
	ctx := context.Background()
	edge := ledger.NewEdge(l.Genesis())
	want := edge.State(nil)
	check := func(what string) {
		t.Helper()
		s := State(t, l)
		if !bytes.Equal(s.Bytes, want.Bytes) || s.Last != want.Last || s.Root != want.Root || s.Commitment != want.Commitment || s.Policy != want.Policy || s.Time != want.Time {
			t.Errorf("%s: %d bytes %.20q, %+v; want %d, %+v", what, len(s.Bytes), s.Bytes, s, len(want.Bytes), want)
		}
	}
	apply := func(state string, batch ...ledger.Entry) {
		t.Helper()
		if err := l.ApplyState(ctx, batch, []byte(state)); err != nil {
			t.Fatal(err)
		}
		want.Bytes = []byte(state)
	}
	check("of an empty ledger")
	apply("none")
	check("with an empty batch")
	a, b := AtSecond(100, Issue("a", 1)), AtSecond(200, Update(0))
	d, err := l.Decide(context.Background(), []ledger.Entry{a, b})
	if err != nil {
		t.Fatal(err)
	}
	apply("one", a, b)
	want = d.After // told before the batch is written
	want.Bytes = []byte("one")
	if want.Last != 2 || want.Policy != 1 || want.Time != b.Time.UTC() || want.Root == edge.Root() || want.Commitment == edge.Commitment() {
		t.Errorf("%+v after two entries", want)
	}
	check("with a batch")
	apply("two", a)
	check("with a batch that is there")
	spend := AtSecond(200, UnderPolicy(1, Spend("b", token.ID("none"))))
	if err := l.ApplyState(ctx, []ledger.Entry{AtSecond(200, UnderPolicy(1, Issue("c", 1))), spend}, []byte("three")); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("%v", err)
	}
	check("with a batch that is rejected")
	if err := l.ApplyState(ctx, []ledger.Entry{a}, nil); err != nil {
		t.Error(err)
	}
	check("with no bytes")
	apply(string(bytes.Repeat([]byte{9}, ledger.MaxState)))
	check("with the most bytes")
	apply("")
	check("with bytes that are empty")
}

// raceOfStates has goroutines apply batches, each with the batch's name as state. The final state
// must be the name of the last batch in the log.
func raceOfStates(t *testing.T, l Verifier) {
	const workers, batches = 8, 10
	ctx := context.Background()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for k := range batches {
				name := fmt.Sprintf("w%d/%d", w, k)
				if err := l.ApplyState(ctx, []ledger.Entry{Issue(name, 1)}, []byte(name)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	records := Records(t, l, 1)
	if s := State(t, l); len(records) != workers*batches || string(s.Bytes) != string(records[len(records)-1].Anchor) {
		t.Errorf("state %q, the last of %d records is %s", s.Bytes, len(records), records[len(records)-1].Anchor)
	}
}

// StreamState returns the state that Stream stores with batch k of stream w.
func StreamState(w, k int) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, uint64(w)), uint64(k+1))
}

// StateSurvived checks after a Kill that the ledger has the state that was stored with its last batch.
func StateSurvived(t testing.TB, l ledger.Store) {
	t.Helper()
	s := State(t, l)
	if s.Last == 0 {
		if len(s.Bytes) > 0 {
			t.Errorf("bytes %x with no batch", s.Bytes)
		}
		return
	}
	last := Records(t, l, s.Last)[0]
	var w, k, i int
	if _, err := fmt.Sscanf(string(last.Anchor), "%d/%d/%d", &w, &k, &i); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.Bytes, StreamState(w, k)) {
		t.Errorf("bytes %x with batch %d of stream %d", s.Bytes, k, w)
	}
}

// Undecided tests that Decide writes nothing. The function dump must return everything that the store
// contains; Undecided compares what dump returns before and after the calls of Decide.
func Undecided(t *testing.T, l Verifier, dump func() string) {
	t.Helper()
	ctx := context.Background()
	Apply(t, l, Issue("a", 2), Spend("b", token.ID("a/0")))
	before := dump()
	batch := []ledger.Entry{Issue("c", 1), Spend("d", token.ID("a/1"), token.ID("c/0")), Spend("e", token.ID("a/0")), Issue("a", 2), Update(0)}
	for range 3 {
		rejected, err := Rejected(ctx, l, batch)
		if err != nil || rejected[0] != nil || rejected[1] != nil || !errors.Is(rejected[2], zkbench.ErrSpent) || rejected[3] != nil || rejected[4] != nil {
			t.Fatal(rejected, err)
		}
	}
	if after := dump(); after != before {
		t.Errorf("changed from\n%s\nto\n%s", before, after)
	}
	Apply(t, l, batch[0], batch[1], batch[4])
	Verify(t, l)
}
