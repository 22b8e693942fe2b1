package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// Requests are the requests that the function Submitter submits.
type Requests struct {
	Good   [][]byte  // two or more, valid whatever else is recorded
	Other  []byte    // another request with the anchor of Good[0]
	Rivals [2][]byte // valid until one of them is recorded
}

// Submitter tests a submitter against what package ledger documents. The parameter reader must
// read the submitter's ledger.
func Submitter(t *testing.T, s ledger.Submitter, reader ledger.Reader, q Requests) {
	ctx := context.Background()
	before := len(Records(t, reader, 1))
	submit := func(requests ...[]byte) []ledger.Verdict {
		t.Helper()
		verdicts, err := s.Submit(ctx, requests)
		if err != nil || len(verdicts) != len(requests) {
			t.Fatalf("%d verdicts on %d requests, %v", len(verdicts), len(requests), err)
		}
		for i, v := range verdicts {
			if (v.Record == nil) == (v.Err == nil) {
				t.Errorf("request %d has a record (%v), and the error %v", i, v.Record != nil, v.Err)
			}
			if v.Record == nil {
				continue
			}
			on, found, err := reader.Record(ctx, v.Anchor)
			if err != nil || !found || !SameRecord(on, *v.Record) {
				t.Errorf("request %d: record %d, and another on the ledger: %v, %v", i, v.Record.Seq, found, err)
			}
		}
		return verdicts
	}
	landed := func(what string, n int) {
		t.Helper()
		if records := len(Records(t, reader, 1)); records != before+n {
			t.Errorf("%s: %d requests have landed, want %d", what, records-before, n)
		}
	}
	refused := func(what string, v ledger.Verdict, cause error) {
		t.Helper()
		if _, ok := errors.AsType[*zkbench.CheckError](v.Err); !ok || !errors.Is(v.Err, cause) {
			t.Errorf("%s: %v, want %v", what, v.Err, cause)
		}
	}
	submit()
	junk := []byte{0xff, 0, 1}
	first := submit(q.Good[0], junk, q.Good[0], q.Other)
	refused("no request", first[1], zkbench.ErrMalformed)
	if first[1].Anchor != nil {
		t.Errorf("no request has the anchor %q", first[1].Anchor)
	}
	if first[0].Err != nil || first[2].Err != nil || first[0].Record.Seq != first[2].Record.Seq {
		t.Fatalf("one request twice: %v, %v", first[0].Err, first[2].Err)
	}
	refused("another request behind it", first[3], zkbench.ErrAnchorConflict)
	refused("another request later", submit(q.Other)[0], zkbench.ErrAnchorConflict)
	landed("one request twice", 1)

	all := submit(q.Good...)
	for i, v := range all {
		if v.Err != nil {
			t.Errorf("request %d: %v", i, v.Err)
		}
	}
	if !SameRecord(*all[0].Record, *first[0].Record) {
		t.Error("a request that has landed has another record when it is submitted again")
	}
	landed("all", len(q.Good))

	// Two rivals, from many callers at once: all callers of one get its record, those of the other none.
	var mu sync.Mutex
	var wg sync.WaitGroup
	winners := map[string]bool{}
	for n := range 16 {
		wg.Go(func() {
			verdicts, err := s.Submit(ctx, [][]byte{q.Rivals[n%2]})
			if err != nil {
				t.Error(err)
				return
			}
			v := verdicts[0]
			mu.Lock()
			defer mu.Unlock()
			if won, known := winners[string(v.Anchor)]; known && won != (v.Record != nil) {
				t.Errorf("%s has a record for one caller and none for another: %v", v.Anchor, v.Err)
			}
			winners[string(v.Anchor)] = v.Record != nil
			if v.Err != nil && !errors.Is(v.Err, zkbench.ErrSpent) {
				t.Error(v.Err)
			}
		})
	}
	wg.Wait()
	landed("with two rivals", len(q.Good)+1)
	records := Records(t, reader, 1)
	for anchor, won := range winners {
		if won != slices.ContainsFunc(records, func(r ledger.Record) bool { return bytes.Equal(r.Anchor, []byte(anchor)) }) {
			t.Errorf("%s: a record is said to be there (%v), the log has another answer", anchor, won)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if verdicts, err := s.Submit(ended, q.Good); err == nil && slices.ContainsFunc(verdicts, func(v ledger.Verdict) bool { return v.Err == nil && v.Record == nil }) {
		t.Error("a canceled call has verdicts that say nothing")
	}
	landed("canceled", len(q.Good)+1)
}
