package bolt

import (
	"bytes"
	"context"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token/ledger"
)

// Verify checks the whole ledger as it is when it begins: the structure of the
// file, the chain of the log from the first request, and that the buckets of
// tokens and anchors are what the log makes of them. The error is a
// *ledger.CorruptError that names the first place, or the context's.
//
// progress (nil: none) gets the number of requests checked, of total, after
// every batch. It must not call Close.
//
// Verify reads a snapshot, in memory that does not depend on the ledger's
// length. While it does, a batch for which the file must grow waits, and with
// it all readers.
func (l *Ledger) Verify(ctx context.Context, progress func(done, total uint64)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := l.snapshot()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of a read, which cannot fail
	v := verifier{ctx: ctx, tx: tx}
	var total link
	err = guard(func() error {
		pageSize := int64(tx.DB().Info().PageSize)
		if err := newPages(l.file, pageSize, uint64(tx.Size()/pageSize)).tree(uint64(tx.Cursor().Bucket().Root())); err != nil {
			return err
		}
		if err := checkFormat(tx); err != nil {
			return err
		}
		total, err = lastLink(tx)
		return err
	})
	for err == nil && v.tail.last < total.last {
		if err = ctx.Err(); err != nil {
			return err
		}
		if err = guard(v.next); err == nil && progress != nil {
			progress(v.tail.last, total.last)
		}
	}
	if err != nil {
		return err
	}
	return guard(v.counts)
}

// snapshot begins a read of what is durable.
func (l *Ledger) snapshot() (tx *bbolt.Tx, err error) {
	l.visible.RLock()
	defer l.visible.RUnlock()
	if l.failed != nil {
		return nil, l.failed
	}
	err = guard(func() (err error) {
		tx, err = l.db.Begin(false)
		return err
	})
	return tx, err
}

// verifier replays a log. Each entry's effects are looked up in the buckets,
// where every record names the entries that created and spent it. So each
// effect in the log has its own record; with as many records as effects, each
// record has its effect too, and no two entries create or spend one token.
type verifier struct {
	ctx                      context.Context
	tx                       *bbolt.Tx
	tail                     link
	entries, creates, spends uint64
}

// next replays the batch after tail.
func (v *verifier) next() error {
	place := fmt.Sprintf("request %d", v.tail.last+1)
	key, value := v.tx.Bucket([]byte(bucketChain)).Cursor().Seek(seqKey(v.tail.last + 1))
	if key == nil {
		return ledger.Corruptf(place, "in no batch")
	}
	l, err := unsealLink(key, value)
	if err != nil {
		return err
	}
	if l.first != v.tail.last+1 {
		return ledger.Corruptf(place, "in no batch: the next begins with %d", l.first)
	}
	if err := checkLink(v.tx, v.tail.hash, &l, v.entry); err != nil {
		return err
	}
	v.tail = l
	return nil
}

// entry checks that the buckets hold what the entry does.
func (v *verifier) entry(seq uint64, e *ledger.Entry) error {
	at := func(format string, args ...any) string {
		return fmt.Sprintf("request %d: ", seq) + fmt.Sprintf(format, args...)
	}
	value := v.tx.Bucket([]byte(bucketAnchors)).Get(e.Anchor)
	if value == nil {
		return ledger.Corruptf(at("anchor"), "not in bucket anchors")
	}
	a, err := unsealAnchored(e.Anchor, value)
	if err != nil {
		return ledger.Corruptf(at("anchor"), "%v", err)
	}
	if a.seq != seq || a.digest != e.Digest {
		return ledger.Corruptf(at("anchor"), "stands for request %d, or another digest", a.seq)
	}
	for i, id := range e.Spends {
		s, err := stateOf(v.tx, id)
		if err != nil {
			return ledger.Corruptf(at("spend %d", i), "%v", err)
		}
		if s.status != spent || s.spent != seq {
			return ledger.Corruptf(at("spend %d", i), "token %x is not spent by it", []byte(id))
		}
	}
	for i, c := range e.Creates {
		s, err := stateOf(v.tx, c.ID)
		if err != nil {
			return ledger.Corruptf(at("create %d", i), "%v", err)
		}
		if s.status == absent || s.created != seq || (s.status == unspent && !bytes.Equal(s.token, c.Token)) {
			return ledger.Corruptf(at("create %d", i), "token %x is not the one it creates", []byte(c.ID))
		}
	}
	v.entries++
	v.spends += uint64(len(e.Spends))
	v.creates += uint64(len(e.Creates))
	return nil
}

// counts holds the numbers of records against the numbers of effects; next has
// been to each record of the chain.
func (v *verifier) counts() error {
	for _, b := range []struct {
		name string
		want uint64
	}{
		{bucketLog, v.entries},
		{bucketAnchors, v.entries},
		{bucketTokens, v.creates},
		{bucketSpent, v.spends},
		{bucketMeta, 1},
	} {
		n := uint64(0)
		c := v.tx.Bucket([]byte(b.name)).Cursor()
		for key, _ := c.First(); key != nil; key, _ = c.Next() {
			if n++; n%4096 == 0 && v.ctx.Err() != nil {
				return v.ctx.Err()
			}
		}
		if n != b.want {
			return ledger.Corruptf("bucket "+b.name, "%d records, the log makes %d", n, b.want)
		}
	}
	return nil
}
