package store

import (
	"bytes"
	"context"
	"fmt"

	"github.com/zkbench/zkbench/token/ledger"
)

// Snapshot is a view of a store at one moment. CheckTail and Verify request batches and entries in the
// order of the log. Each method returns the error of the context, a *ledger.CorruptError, or an error of
// the store.
type Snapshot interface {
	// Lookup reads the records of the entry that Entries is passing to visit.
	Lookup
	// Genesis returns the ledger's genesis.
	Genesis() ledger.Genesis
	// Tail returns the last batch, after checking that the log ends with it. It returns Genesis if
	// the ledger is empty.
	Tail(ctx context.Context) (Batch, error)
	// Batch returns the first batch that ends with entry seq or a later one, and NoBatch's error if
	// there is none.
	Batch(ctx context.Context, seq uint64) (Batch, error)
	// Entries calls the function visit for each entry from number first to number last, in order. Each call
	// gets the entry's encoding, which is valid until visit returns.
	Entries(ctx context.Context, first, last uint64, visit func(seq uint64, raw []byte, e *ledger.Entry) error) error
	// Count returns the number of records in a table.
	Count(ctx context.Context, table string) (uint64, error)
	// Renew may replace the snapshot with a newer one, which shows what is committed now, and reports
	// whether it has replaced the snapshot. Verify calls it between two batches. The parameter left is the
	// number of entries that are still to be read.
	Renew(ctx context.Context, left uint64) (bool, error)
}

// NoBatch returns the error for an entry that is in no batch of the chain.
func NoBatch(seq uint64) error { return ledger.Corruptf(fmt.Sprintf("request %d", seq), "in no batch") }

// CheckOpened checks the last batch like CheckTail, and refuses a fork that lacks records of its
// parent.
func CheckOpened(ctx context.Context, s Snapshot) error {
	if err := CheckTail(ctx, s); err != nil {
		return err
	}
	tail, err := s.Tail(ctx)
	if err == nil {
		err = tail.Complete(s.Genesis())
	}
	return err
}

// CheckTail checks the last batch against its entries and the batch before it.
func CheckTail(ctx context.Context, s Snapshot) error {
	tail, err := s.Tail(ctx)
	if err == nil {
		_, err = tail.Next(s.Genesis())
	}
	if err != nil || tail.Last == 0 {
		return err
	}
	prev := Genesis(s.Genesis())
	if tail.First > 1 {
		if prev, err = s.Batch(ctx, tail.First-1); err != nil {
			return err
		}
	}
	if prev.Last != tail.First-1 {
		return ledger.Corruptf(fmt.Sprintf("request %d", tail.First), "no batch ends before it")
	}
	return replay(ctx, s, prev, tail, func(uint64, *ledger.Entry) error { return nil })
}

// replay computes a batch's hash, policies and time again from its entries, compares them with the
// chain's record, and passes each entry to visit.
func replay(ctx context.Context, s Snapshot, prev, b Batch, visit func(seq uint64, e *ledger.Entry) error) error {
	before, err := prev.Next(s.Genesis())
	if err != nil {
		return err
	}
	link, policy, last := NewLink(before, b.First), prev.Policy, prev.Time
	err = s.Entries(ctx, b.First, b.Last, func(seq uint64, raw []byte, e *ledger.Entry) error {
		link.Add(raw)
		if e.Policy != policy {
			return ledger.Corruptf(fmt.Sprintf("request %d", seq), "accepted under policy %d, but the current one was %d", e.Policy, policy)
		}
		if e.Time.Before(last) {
			return ledger.Corruptf(fmt.Sprintf("request %d", seq), "at %v, before the previous one, at %v", e.Time, last)
		}
		policy, last = PolicyAfter(e), e.Time
		return visit(seq, e)
	})
	if err != nil {
		return err
	}
	switch place := fmt.Sprintf("requests %d to %d", b.First, b.Last); {
	case link.Sum() != b.Hash:
		return ledger.Corruptf(place, "not what the chain holds")
	case policy != b.Policy:
		return ledger.Corruptf(place, "lead to policy %d, the chain has %d", policy, b.Policy)
	case last != b.Time:
		return ledger.Corruptf(place, "lead to the time %v, the chain has %v", last, b.Time)
	}
	return nil
}

// Verify replays the log of a snapshot from the first request. It checks the chain, and that the
// other tables are exactly what the log implies. After every batch it calls progress with the
// number of requests checked so far and the total; progress may be nil.
//
// Between two batches Verify may replace its snapshot by a newer one (Snapshot.Renew). The newer snapshot
// contains everything that the one before had, and more. So the effects of an entry can be looked up in any
// snapshot that has the entry. A token that was unspent may be spent in a later snapshot, by an entry that
// Verify has yet to read. The result therefore holds for the last snapshot.
func Verify(ctx context.Context, s Snapshot, progress func(done, total uint64)) error {
	total, err := s.Tail(ctx)
	if err != nil {
		return err
	}
	v := verifier{Snapshot: s, tail: Genesis(s.Genesis())}
	for v.tail.Last < total.Last {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := v.next(ctx); err != nil {
			return err
		}
		if progress != nil {
			progress(v.tail.Last, total.Last)
		}
		renewed, err := s.Renew(ctx, total.Last-v.tail.Last)
		if renewed {
			total, err = s.Tail(ctx)
		}
		if err != nil {
			return err
		}
	}
	if _, err := v.tail.Next(s.Genesis()); err != nil {
		return err
	}
	if err := v.tail.Complete(s.Genesis()); err != nil {
		return err
	}
	return v.counts(ctx)
}

// verifier replays a log. It looks up the effects of each entry in the tables, where every record
// names the entries that created and spent it. So each effect in the log has its own record. If
// there are as many records as effects, each record has its effect too, and no two entries create
// or spend one token.
type verifier struct {
	Snapshot
	tail                              Batch
	batches, entries, creates, spends uint64
}

// next replays the batch after tail.
func (v *verifier) next(ctx context.Context) error {
	b, err := v.Batch(ctx, v.tail.Last+1)
	if err != nil {
		return err
	}
	if b.First != v.tail.Last+1 {
		return ledger.Corruptf(fmt.Sprintf("request %d", v.tail.Last+1), "in no batch: the next begins with %d", b.First)
	}
	if err := replay(ctx, v, v.tail, b, v.entry); err != nil {
		return err
	}
	v.tail = b
	v.batches++
	return nil
}

// entry checks that the tables contain what the entry does.
func (v *verifier) entry(seq uint64, e *ledger.Entry) error {
	place := func(format string, args ...any) string {
		return fmt.Sprintf("request %d: ", seq) + fmt.Sprintf(format, args...)
	}
	a, found, err := v.Anchor(e.Anchor)
	switch {
	case err != nil:
		return ledger.Corruptf(place("anchor"), "%v", err)
	case !found:
		return ledger.Corruptf(place("anchor"), "not in anchors")
	case a.Seq != seq || a.Digest != e.Digest:
		return ledger.Corruptf(place("anchor"), "recorded with request %d, or with another digest", a.Seq)
	}
	for i, id := range e.Spends {
		s, err := v.State(id)
		if err != nil {
			return ledger.Corruptf(place("spend %d", i), "%v", err)
		}
		if s.Status != Spent || s.Spent != seq {
			return ledger.Corruptf(place("spend %d", i), "token %x is not spent by it", []byte(id))
		}
	}
	for i, c := range e.Creates {
		s, err := v.State(c.ID)
		if err != nil {
			return ledger.Corruptf(place("create %d", i), "%v", err)
		}
		if s.Status == Absent || s.Created != seq || (s.Status == Unspent && !bytes.Equal(s.Token, c.Token)) {
			return ledger.Corruptf(place("create %d", i), "token %x is not the one it creates", []byte(c.ID))
		}
	}
	v.entries++
	v.spends += uint64(len(e.Spends))
	v.creates += uint64(len(e.Creates))
	return nil
}

// counts compares the number of records in each table with the number of effects in the log.
func (v *verifier) counts(ctx context.Context) error {
	for _, t := range []struct {
		name string
		want uint64
	}{
		{TableLog, v.entries},
		{TableChain, v.batches},
		{TableAnchors, v.entries},
		{TableTokens, v.creates},
		{TableSpent, v.spends},
	} {
		n, err := v.Count(ctx, t.name)
		if err != nil {
			return err
		}
		if n != t.want {
			return ledger.Corruptf(t.name, "%d records, the log implies %d", n, t.want)
		}
	}
	return nil
}
