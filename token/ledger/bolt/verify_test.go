package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// TestVerifyNamesThePlace: buckets that are sound by themselves and contradict
// each other. Each edit is sealed with its right checksum.
func TestVerifyNamesThePlace(t *testing.T) {
	put := func(bucket string, key []byte, body []byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucket)).Put(key, boltfile.Seal(bucket, key, bytes.Clone(body)))
		}
	}
	remove := func(bucket string, key []byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucket)).Delete(key) }
	}
	both := func(a, b func(*bbolt.Tx) error) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return errors.Join(a(tx), b(tx)) }
	}
	tokens := func(id string, s store.State) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(store.TableTokens)).Put([]byte(id), sealState(token.ID(id), &s))
		}
	}
	anchor := func(a store.Anchored) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(store.TableAnchors)).Put([]byte("b"), sealAnchored([]byte("b"), &a))
		}
	}
	batch := func(last uint64, edit func(b *store.Batch)) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			key := store.SeqKey(last)
			b, err := unsealBatch(key, tx.Bucket([]byte(store.TableChain)).Get(key))
			edit(&b)
			return errors.Join(err, tx.Bucket([]byte(store.TableChain)).Put(key, sealBatch(&b)))
		}
	}
	policy, later := func(b *store.Batch) { b.Policy++ }, func(b *store.Batch) { b.Time = b.Time.Add(1) }
	// replaced has another request be the last, in a chain that is made anew.
	replaced := func(e ledger.Entry) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			chain := tx.Bucket([]byte(store.TableChain))
			before, err := unsealBatch(store.SeqKey(3), chain.Get(store.SeqKey(3)))
			link := store.NewLink(before.Hash, 4)
			link.Add(e.Append(nil))
			last := store.Batch{First: 4, Last: 4, Hash: link.Sum(), Policy: e.Policy, Time: e.Time.UTC()}
			return errors.Join(err, put(store.TableLog, store.SeqKey(4), e.Append(nil))(tx), chain.Put(store.SeqKey(4), sealBatch(&last)))
		}
	}
	// noTime has a batch end at a time that is none.
	noTime := func(tx *bbolt.Tx) error {
		key := store.SeqKey(2)
		b, err := unsealBatch(key, tx.Bucket([]byte(store.TableChain)).Get(key))
		body := b.Append(nil)
		binary.BigEndian.PutUint32(body[len(body)-4:], 1e9)
		return errors.Join(err, put(store.TableChain, key, body)(tx))
	}
	// begun has the ledger be a fork.
	begun := func(f ledger.Fork) func(*bbolt.Tx) error {
		g := ledger.Genesis{Forks: []ledger.Fork{f}}
		return put(bucketMeta, []byte(formatKey), g.Append(binary.BigEndian.AppendUint32(nil, format)))
	}
	a, b := ledgertest.Issue("a", 2), ledgertest.Spend("b", token.ID("a/1"))
	other := ledgertest.Spend("b", token.ID("a/1"))
	other.Request = []byte("another")
	last := ledgertest.AtSecond(100, other)
	for name, c := range map[string]struct {
		edit  func(*bbolt.Tx) error
		place string
		open  bool // found on opening
	}{
		"nothing":                     {func(*bbolt.Tx) error { return nil }, "", false},
		"token resurrected":           {both(tokens("a/1", store.State{Status: store.Unspent, Created: 1, Token: []byte("token")}), remove(store.TableSpent, []byte("a/1"))), "request 2: spend 0", false},
		"token resurrected by half":   {remove(store.TableSpent, []byte("a/1")), "request 1: create 1", false},
		"token lost":                  {both(remove(store.TableTokens, []byte("a/1")), remove(store.TableSpent, []byte("a/1"))), "request 1: create 1", false},
		"token spent by nobody":       {both(tokens("a/0", store.State{Status: store.Spent, Created: 1, Spent: 2}), put(store.TableSpent, []byte("a/0"), store.SeqKey(2))), "spent", false},
		"token of nobody":             {tokens("x", store.State{Status: store.Unspent, Created: 2, Token: []byte("token")}), "tokens", false},
		"token of other bytes":        {tokens("a/0", store.State{Status: store.Unspent, Created: 1, Token: []byte("taken")}), "request 1: create 0", false},
		"token of another request":    {tokens("a/0", store.State{Status: store.Unspent, Created: 2, Token: []byte("token")}), "request 1: create 0", false},
		"anchor lost":                 {remove(store.TableAnchors, []byte("b")), "request 2: anchor", false},
		"anchor of another digest":    {anchor(store.Anchored{Seq: 2, Digest: [32]byte{9}}), "request 2: anchor", false},
		"anchor of another request":   {anchor(store.Anchored{Seq: 1, Digest: b.Digest}), "request 2: anchor", false},
		"anchor of nobody":            {put(store.TableAnchors, []byte("x"), make([]byte, 40)), "anchors", false},
		"log: first request replaced": {put(store.TableLog, store.SeqKey(1), other.Append(nil)), "request 1: anchor", false},
		"log: first request lost":     {remove(store.TableLog, store.SeqKey(1)), "request 1", false},
		"log: first request no entry": {put(store.TableLog, store.SeqKey(1), []byte{1}), "request 1", false},
		"log: last request replaced":  {put(store.TableLog, store.SeqKey(4), last.Append(nil)), "requests 4 to 4", true},
		"log: last request lost":      {remove(store.TableLog, store.SeqKey(4)), "log", true},
		"log: request too many":       {put(store.TableLog, store.SeqKey(5), other.Append(nil)), "log", true},
		"chain: another hash":         {put(store.TableChain, store.SeqKey(1), append(store.SeqKey(1), make([]byte, 52)...)), "requests 1 to 1", false},
		"chain: another policy":       {batch(2, policy), "requests 2 to 2", false},
		"chain: another time":         {batch(2, later), "requests 2 to 2", false},
		"chain: no time":              {noTime, "chain 0000000000000002", false},
		"chain: a byte too many":      {put(store.TableChain, store.SeqKey(2), append(store.SeqKey(1), make([]byte, 53)...)), "chain 0000000000000002", false},
		"chain: last of another":      {batch(4, policy), "requests 4 to 4", true},
		"chain: last of another time": {batch(4, later), "requests 4 to 4", true},
		"log: under another policy":   {replaced(ledgertest.UnderPolicy(1, ledgertest.AtSecond(100, ledgertest.Issue("d", 1)))), "request 4", true},
		"log: time goes back":         {replaced(ledgertest.AtSecond(99, ledgertest.Issue("d", 1))), "request 4", true},
		"chain: a batch lost":         {remove(store.TableChain, store.SeqKey(1)), "request 1", false},
		"chain: the last lost":        {remove(store.TableChain, store.SeqKey(4)), "log", true},
		"chain: batches overlap":      {put(store.TableChain, store.SeqKey(2), append(store.SeqKey(1), make([]byte, 52)...)), "request 2", false},
		"meta: a key too many":        {put(bucketMeta, []byte("x"), nil), "meta", false},
		"fork of another history":     {begun(ledger.Fork{Last: 4}), "requests 4 to 4", true},
		"fork of an earlier one":      {begun(ledger.Fork{Last: 2}), "requests 2 to 2", false},
		"fork behind the end":         {begun(ledger.Fork{Last: 5}), "log", true},
		"meta: state lost":            {remove(bucketMeta, []byte(stateKey)), "meta 7374617465", true},
		"meta: an earlier state":      {put(bucketMeta, []byte(stateKey), store.SeqKey(3)), "state", true},
		"meta: state of another key": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucketMeta)).Put([]byte(stateKey), boltfile.Seal(bucketMeta, []byte(formatKey), nil))
		}, "meta 7374617465", true},
	} {
		t.Run(name, func(t *testing.T) {
			l, path := newLedger(t)
			ledgertest.Apply(t, l, a)
			ledgertest.Apply(t, l, b)
			ledgertest.Apply(t, l, ledgertest.AtSecond(100, ledgertest.Issue("c", 1)))
			ledgertest.Apply(t, l, ledgertest.AtSecond(100, ledgertest.Issue("d", 1)))
			must.Do(t, l.Close())
			db := must.Get(bbolt.Open(path, 0o600, nil))(t)
			must.Do(t, errors.Join(db.Update(c.edit), db.Close()))
			l, err := Open(path)
			if (err != nil) != c.open {
				t.Fatalf("open: %v", err)
			}
			if err == nil {
				defer l.Close()
				err = l.Verify(context.Background(), nil)
			}
			if c.place == "" {
				must.Do(t, err)
				return
			}
			ledgertest.Corrupt(t, err, c.place, name)
		})
	}
}

// TestUnsealState: the two buckets must agree, and each value must be in its
// place.
func TestUnsealState(t *testing.T) {
	id := token.ID("id")
	live := store.State{Status: store.Unspent, Created: 3, Token: []byte("token")}
	dead := store.State{Status: store.Spent, Created: 3, Spent: 5}
	mark := func(id []byte, seq uint64) []byte { return boltfile.Seal(store.TableSpent, id, store.SeqKey(seq)) }
	flipped := func(b []byte) []byte {
		b[0] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		tokens, spent []byte
		want          store.Status
		reason        string // none: no error
	}{
		"absent":               {nil, nil, store.Absent, ""},
		"unspent":              {sealState(id, &live), nil, store.Unspent, ""},
		"spent":                {sealState(id, &dead), mark(id, 5), store.Spent, ""},
		"only marked":          {nil, mark(id, 5), store.Absent, "not in tokens"},
		"unspent and marked":   {sealState(id, &live), mark(id, 5), store.Absent, "unspent in tokens"},
		"spent and not marked": {sealState(id, &dead), nil, store.Absent, "not in spent"},
		"spent by another":     {sealState(id, &dead), mark(id, 6), store.Absent, "different requests"},
		"of another id":        {sealState([]byte("di"), &live), nil, store.Absent, "wrong checksum"},
		"mark of another id":   {sealState(id, &dead), mark([]byte("di"), 5), store.Absent, "wrong checksum"},
		"flipped":              {flipped(sealState(id, &live)), nil, store.Absent, "wrong checksum"},
		"mark flipped":         {sealState(id, &dead), flipped(mark(id, 5)), store.Absent, "wrong checksum"},
		"short":                {[]byte{1, 2, 3}, nil, store.Absent, "too few"},
		"mark short":           {sealState(id, &dead), []byte{}, store.Absent, "too few"},
		"unspent, no token":    {sealState(id, &store.State{Status: store.Unspent, Created: 3}), nil, store.Absent, "not a state"},
		"spent, with a token":  {sealState(id, &store.State{Status: store.Spent, Created: 3, Spent: 5, Token: []byte{1}}), mark(id, 5), store.Absent, "not a state"},
		"spent before created": {sealState(id, &store.State{Status: store.Spent, Created: 3, Spent: 3}), mark(id, 3), store.Absent, "not a state"},
		"status 0":             {sealState(id, &store.State{}), nil, store.Absent, "not a state"},
		"mark of none":         {nil, mark(id, 0), store.Absent, "not a sequence number"},
		"status 3":             {sealState(id, &store.State{Status: 3, Created: 3, Token: []byte{1}}), nil, store.Absent, "not a state"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := unsealState(id, c.tokens, c.spent)
			if (err == nil) != (c.reason == "") || s.Status != c.want {
				t.Fatalf("status %d, %v", s.Status, err)
			}
			var corrupt *ledger.CorruptError
			if err != nil && (!errors.As(err, &corrupt) || !strings.Contains(corrupt.Reason, c.reason) || !strings.HasSuffix(corrupt.Place, " 6964")) {
				t.Errorf("%v, want %q of 6964", err, c.reason)
			}
		})
	}
}

// TestFault: pages that vanish under an open ledger are an error, not the end
// of the process; after it the ledger writes nothing.
func TestFault(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be cut")
	}
	l, path := newLedger(t)
	ctx := context.Background()
	ledgertest.Apply(t, l, ledgertest.Issue("a", 200))
	ledgertest.Apply(t, l, ledgertest.Issue("b", 1))
	must.Do(t, os.Truncate(path, int64(2*os.Getpagesize())))
	_, err := l.Token(ctx, token.ID("a/0"))
	ledgertest.Corrupt(t, err, "", "token")
	ledgertest.Corrupt(t, l.Verify(ctx, nil), "", "verify")
	for range 2 {
		ledgertest.Corrupt(t, l.Apply(ctx, []ledger.Entry{ledgertest.Spend("c", token.ID("a/0"))}), "", "apply")
	}
	must.Do(t, l.Close())
	if info, err := os.Stat(path); err != nil || info.Size() != int64(2*os.Getpagesize()) {
		t.Errorf("the file was written to, or %v", err)
	}
}

// TestWritersBesideVerify: a batch for which the file must grow is written while a verification runs, which takes in what it finds then, and
// holds no snapshot in progress.
func TestWritersBesideVerify(t *testing.T) {
	l, _ := newLedger(t)
	ctx := t.Context()
	const batches = 50
	for i := range batches {
		ledgertest.Apply(t, l, ledgertest.Issue(fmt.Sprint("before ", i), 1))
	}
	large := ledgertest.Issue("large", 1)
	large.Request = make([]byte, token.MaxRequest) // the file is far smaller
	written := make(chan error, 1)
	calls := 0
	var last uint64
	l.snapshotTime = 0
	must.Do(t, l.Verify(ctx, func(done, _ uint64) {
		switch calls++; calls {
		case 1:
			must.Do(t, l.Apply(ctx, []ledger.Entry{ledgertest.Spend("by progress", token.ID("before 40/0"))})) // which would wait for ever for itself
			go func() { written <- l.Apply(ctx, []ledger.Entry{large}) }()
		case 10:
			must.Do(t, <-written)
		}
		last = done
	}))
	if last != batches+2 {
		t.Errorf("%d requests verified, want %d, with those that were written meanwhile", last, batches+2)
	}

	// Within the time of one snapshot nothing is renewed.
	l.snapshotTime = time.Hour
	calls = 0
	must.Do(t, l.Verify(ctx, func(uint64, uint64) { calls++ }))
	if calls != batches+2 {
		t.Errorf("%d calls of progress, want %d", calls, batches+2)
	}
	cancelled, cancel := context.WithCancel(ctx)
	l.snapshotTime = 0
	must.Fail(t, l.Verify(cancelled, func(uint64, uint64) { cancel() }), context.Canceled, "cancelled by progress")
}
