package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// replayLog has the store verify itself. As it goes, batch by batch, the log is read
// as any client can read it, counted, hashed, and validated if there are parameters: a
// chain that ends otherwise than the verified one is of another log, or one that
// changes.
func replayLog(ctx context.Context, stderr io.Writer, l store, params *token.PublicParams) (t *tally, err error) {
	ctx, stopVerify := context.WithCancel(ctx)
	defer stopVerify()
	next, stopLog := iter.Pull2(l.Log(ctx, 1))
	defer stopLog()
	t = &tally{next: next, visit: func(*ledger.Record) error { return nil }}
	what, finish := "requests replayed", func() error { return nil }
	if params != nil {
		r, failed := newReplay(params)
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, r.close()) }()
		what, finish = "requests validated", func() error { return r.flush(ctx) }
		t.visit = func(record *ledger.Record) error { return r.add(ctx, *record) }
	}
	show, done := counter(stderr, what)
	defer done()
	tail, err := l.VerifyTail(ctx, func(done, total uint64) {
		show(done, total)
		if t.batch(done); t.err != nil {
			stopVerify()
		}
	})
	switch {
	case t.err != nil:
		return nil, t.err
	case err != nil:
		return nil, err
	case t.hash != tail.Hash || t.requests != tail.Last:
		return nil, ledger.Corruptf("log", "as it is read, not the one that was verified")
	}
	return t, finish()
}

// tally is what a log holds up to some batch.
type tally struct {
	next              func() (ledger.Record, error, bool)
	visit             func(r *ledger.Record) error // gets every record
	requests, batches uint64
	created, spent    uint64 // tokens
	first, last       time.Time
	back              uint64 // requests with an earlier time than the one before
	hash              [32]byte
	err               error
}

// batch adds the batch that ends with the request last.
func (t *tally) batch(last uint64) {
	link := ledger.NewLink(t.hash, t.requests+1)
	for t.err == nil && t.requests < last {
		r, err, ok := t.next()
		switch {
		case err != nil:
			t.err = err
		case !ok || r.Seq != t.requests+1:
			t.err = ledger.Corruptf(fmt.Sprintf("request %d", t.requests+1), "not in the log as it is read")
		default:
			link.Add(r.Append(nil))
			t.request(&r)
			t.err = t.visit(&r)
		}
	}
	t.batches++
	t.hash = link.Sum()
}

func (t *tally) request(r *ledger.Record) {
	switch {
	case t.requests == 0:
		t.first = r.Time
	case r.Time.Before(t.last):
		t.back++
	}
	t.last = r.Time
	t.requests++
	t.created += uint64(len(r.Creates))
	t.spent += uint64(len(r.Spends))
}

// line says what was verified.
func (t *tally) line(validated bool) string {
	valid := ""
	if validated {
		valid = ", each valid under the parameters"
	}
	times := ""
	if t.requests > 0 {
		times = fmt.Sprintf("; times, by the operator: %s to %s, %d earlier than the one before",
			t.first.Format(time.RFC3339), t.last.Format(time.RFC3339), t.back)
	}
	return fmt.Sprintf("ok: %d requests in %d batches%s; %d tokens: %d unspent, %d spent%s; last hash %s",
		t.requests, t.batches, valid, t.created, t.created-t.spent, t.spent, times, hex.EncodeToString(t.hash[:]))
}
