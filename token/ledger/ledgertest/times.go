package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// AtSecond returns e with its time set to the given number of Unix seconds.
func AtSecond(second int64, e ledger.Entry) ledger.Entry {
	e.Time = time.Unix(second, 0)
	return e
}

// Late fails the test unless err says that the entry with index action is rejected because its time is before
// that of the previous entry. The parameter second is the time of the entry, and the parameter last is the
// time of the previous entry, both in Unix seconds.
func Late(t *testing.T, what string, err error, action int, second, last int64) {
	t.Helper()
	c, ok := errors.AsType[*zkbench.CheckError](err)
	e, also := errors.AsType[*ledger.TimeError](err)
	if !ok || !also || c.Check != "time" || c.Action != action || c.Index != -1 || !e.Time.Equal(time.Unix(second, 0)) ||
		e.Last != time.Unix(last, 0).UTC() || !errors.Is(err, zkbench.ErrPolicy) {
		t.Errorf("%s: %v, want entry %d of second %d rejected behind one of %d", what, err, action, second, last)
	}
}

// times tests that an entry's time cannot be before that of the entry before it, also within a
// batch, and that several entries may have the same time.
func times(t *testing.T, l Verifier) {
	ctx := context.Background()
	early := AtSecond(-62135596801, Issue("early", 1)) // a second before the zero time
	if err := l.Apply(ctx, []ledger.Entry{early}); !errors.Is(err, zkbench.ErrPolicy) {
		t.Errorf("before the zero time: %v", err)
	}
	Apply(t, l, Issue("zero", 1), AtSecond(100, Issue("a", 2)), AtSecond(100, Issue("b", 1)))
	Apply(t, l, AtSecond(100, Issue("c", 1)))
	Late(t, "across batches", l.Apply(ctx, []ledger.Entry{AtSecond(99, Issue("d", 1))}), 0, 99, 100)
	Late(t, "within a batch", l.Apply(ctx, []ledger.Entry{AtSecond(300, Issue("d", 1)), AtSecond(200, Issue("e", 1))}), 1, 200, 300)
	// Rejected entries have not moved the time. Each entry is checked at its own position.
	rejected, err := l.ApplyEach(ctx, []ledger.Entry{
		AtSecond(99, Issue("d", 1)), AtSecond(400, Spend("e", token.ID("none"))), AtSecond(101, Issue("f", 1)), AtSecond(100, Issue("g", 1)), AtSecond(50, Issue("a", 2)), AtSecond(102, Issue("h", 1)),
	})
	if err != nil || rejected[2] != nil || rejected[4] != nil || rejected[5] != nil { // the fifth is applied already
		t.Fatal(rejected, err)
	}
	Late(t, "the first of several", rejected[0], 0, 99, 100)
	Late(t, "behind what is accepted with it", rejected[3], 3, 100, 101)
	Apply(t, l, AtSecond(1, Issue("zero", 1)), AtSecond(1, Issue("h", 1))) // applied already, so their times do not matter
	Apply(t, l, AtSecond(102, Update(0)))
	other := AtSecond(1, Update(0))
	other.Digest[0]++
	if err := l.Apply(ctx, []ledger.Entry{other}); !errors.Is(err, zkbench.ErrAnchorConflict) {
		t.Errorf("another digest, of an earlier time: %v", err)
	}
	stale(t, "under another policy too", l.Apply(ctx, []ledger.Entry{AtSecond(1, Issue("i", 1))}), 0, 0, 1)
	Late(t, "spent too", l.Apply(ctx, []ledger.Entry{AtSecond(1, UnderPolicy(1, Spend("i", token.ID("none"))))}), 0, 1, 102)
	var seconds []int64
	for _, r := range Records(t, l, 2) {
		seconds = append(seconds, r.Time.Unix())
	}
	if want := []int64{100, 100, 100, 101, 102, 102}; !slices.Equal(seconds, want) {
		t.Errorf("times %v, want %v", seconds, want)
	}
}

// RaceOfClocks tests validators whose clocks differ. The parameters a and b are two handles of one ledger.
// Goroutines apply entries through them, and each goroutine has a clock of its own. If a clock is behind the
// time of the ledger's last entry, its goroutine applies the entry with that time. All entries must be
// accepted, and no entry of the log may be earlier than the one before it.
func RaceOfClocks(t *testing.T, a, b Verifier) {
	t.Helper()
	const workers, entries = 8, 20
	ctx := context.Background()
	var rejected atomic.Uint64
	var wg sync.WaitGroup
	for w := range workers {
		l := []Verifier{a, b}[w%2]
		wg.Go(func() {
			for i := range entries {
				e := AtSecond(int64(100*i+50*w), Issue(fmt.Sprintf("w%d/%d", w, i), 1))
				err := l.Apply(ctx, []ledger.Entry{e})
				for late, ok := errors.AsType[*ledger.TimeError](err); ok; late, ok = errors.AsType[*ledger.TimeError](err) {
					rejected.Add(1)
					if !late.Time.Equal(e.Time) || !late.Last.After(e.Time) {
						t.Errorf("%s, of %v: %v", e.Anchor, e.Time, late)
					}
					e.Time = late.Last
					err = l.Apply(ctx, []ledger.Entry{e})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	records := Records(t, a, 1)
	if !slices.IsSortedFunc(records, func(a, b ledger.Record) int { return a.Time.Compare(b.Time) }) || len(records) != workers*entries {
		t.Errorf("%d records, or times that go back", len(records))
	}
	t.Logf("%d rejected", rejected.Load())
}
