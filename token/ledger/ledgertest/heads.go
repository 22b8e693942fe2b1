package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// CheckHeads fails the test unless the ledger has these heads; "" means none.
func CheckHeads(t testing.TB, l ledger.Store, counts, proposed string) {
	t.Helper()
	signed, err := l.Head(context.Background())
	if err != nil || string(signed) != counts {
		t.Errorf("the head that counts is %q, %v; want %q", signed, err, counts)
	}
	if signed, err = l.Proposed(context.Background()); err != nil || string(signed) != proposed {
		t.Errorf("the newest head is %q, %v; want %q", signed, err, proposed)
	}
}

// heads tests that a store returns the newest head, and the newest that counts, also after it is opened again.
func heads(t *testing.T, s Stores) {
	ctx := context.Background()
	l, place := s.New(t)
	CheckHeads(t, l, "", "")
	Apply(t, l, Issue("a", 1), Issue("b", 1), Issue("c", 1))
	for _, put := range []struct {
		leaves          uint64
		signed          string
		counts          bool
		counted, newest string
	}{
		{1, "one", false, "", "one"},
		{2, "two", false, "", "two"},
		{2, "two counts", true, "two counts", "two counts"}, // with more signatures
		{3, "three", false, "two counts", "three"},
		{2, "two again", true, "two again", "three"}, // the one that counts is signed anew
		{2, "two late", false, "two again", "three"}, // fewer leaves than one that is there
		{1, "one counts", true, "two again", "three"},
		{4, "four counts", true, "four counts", "four counts"},
		{3, "three counts", true, "four counts", "four counts"},
		{4, "four", false, "four counts", "four"}, // the last one of a number of leaves
		{4, "four again", true, "four again", "four again"},
	} {
		if err := l.PutHead(ctx, put.leaves, []byte(put.signed), put.counts); err != nil {
			t.Fatalf("%s: %v", put.signed, err)
		}
		CheckHeads(t, l, put.counted, put.newest)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		if l, err = s.Open(t, place); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		CheckHeads(t, l, put.counted, put.newest)
	}
	for name, c := range map[string]struct {
		leaves uint64
		signed []byte
		cause  error
	}{
		"more leaves than there are": {5, []byte("x"), ledger.ErrNoLeaf},
		"no leaves":                  {0, []byte("x"), zkbench.ErrParams}, "too many leaves": {ledger.MaxRecords + 2, []byte("x"), zkbench.ErrParams},
		"empty": {4, nil, zkbench.ErrParams}, "too long": {4, make([]byte, ledger.MaxHead+1), zkbench.ErrLimit},
	} {
		for _, counts := range []bool{false, true} {
			if err := l.PutHead(ctx, c.leaves, c.signed, counts); !errors.Is(err, c.cause) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	CheckHeads(t, l, "four again", "four again")
	raceOfHeads(t, l)
	Verify(t, l)
}

// raceOfHeads puts heads of the whole log from several callers at once: no head that counts is lost to one of fewer leaves.
func raceOfHeads(t *testing.T, l ledger.Store) {
	last := State(t, l).Last
	const more, callers = 40, 4
	for i := range more {
		Apply(t, l, Issue(fmt.Sprint("more ", i), 1))
	}
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := range uint64(more) {
				leaves := last + 1 + (i*7+uint64(caller)*11)%more + 1 // each number once, in an order that others do not have
				if err := l.PutHead(context.Background(), leaves, fmt.Appendf(nil, "%d", leaves), leaves%2 == 1); err != nil {
					t.Errorf("head of %d leaves: %v", leaves, err)
				}
			}
		})
	}
	all.Wait()
	newest := last + 1 + more
	CheckHeads(t, l, fmt.Sprint(newest-(newest+1)%2), fmt.Sprint(newest))
}

// streamHead puts the head with which stream 0 is about to apply batch k. Every second one counts.
func streamHead(ctx context.Context, l ledger.Store, k int) error {
	return l.PutHead(ctx, uint64(3*k)+1, fmt.Appendf(nil, "head %d", k), k%2 == 0)
}

// HeadsSurvived checks after a Kill that the ledger has the heads that Stream put before the batches that are on it.
func HeadsSurvived(t testing.TB, l ledger.Store, applied Counts) {
	t.Helper()
	signed, err := l.Proposed(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var last int // one head more than batches, if the process was killed between the two
	if n := applied[0]; len(signed) == 0 && n == 0 {
		return
	} else if _, err := fmt.Sscanf(string(signed), "head %d", &last); err != nil || last != n-1 && last != n {
		t.Errorf("head %q of stream 0 with %d batches: %v", signed, n, err)
	}
	CheckHeads(t, l, fmt.Sprint("head ", last-last%2), string(signed))
}
