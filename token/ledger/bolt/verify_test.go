package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
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
	// logged changes the body of a record in the log.
	logged := func(seq uint64, change func(body []byte) []byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			key := store.SeqKey(seq)
			body, err := unseal(store.TableLog, key, tx.Bucket([]byte(store.TableLog)).Get(key), 1)
			if err != nil {
				return err
			}
			return put(store.TableLog, key, change(bytes.Clone(body)))(tx)
		}
	}
	// flip changes a bit of the byte that many bytes before the end.
	flip := func(before int) func(body []byte) []byte {
		return func(body []byte) []byte {
			body[len(body)-before] ^= 1
			return body
		}
	}
	edged := func(change func(body []byte) []byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			body, err := unseal(bucketMeta, []byte(edgeKey), tx.Bucket([]byte(bucketMeta)).Get([]byte(edgeKey)), 1)
			if err != nil {
				return err
			}
			return put(bucketMeta, []byte(edgeKey), change(bytes.Clone(body)))(tx)
		}
	}
	all := []ledger.Entry{
		ledgertest.Issue("a", 2), ledgertest.Spend("b", token.ID("a/1")),
		ledgertest.AtSecond(100, ledgertest.Issue("c", 1)), ledgertest.AtSecond(100, ledgertest.Issue("d", 1)),
	}
	// remade writes a log of other entries, with their tree and edge: only what they do is not in the buckets.
	remade := func(seq int, e ledger.Entry) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			edge := ledger.NewEdge(ledger.Genesis{})
			entries := slices.Clone(all)
			entries[seq-1] = e
			for i := range entries {
				raw := entries[i].Append(nil)
				commitment, nodes := edge.Append(&entries[i], raw)
				if err := put(store.TableLog, store.SeqKey(edge.Last()), append(raw, store.After(commitment, nodes)...))(tx); err != nil {
					return err
				}
			}
			return putEdge(tx.Bucket([]byte(bucketMeta)), edge)
		}
	}
	earlier := ledger.NewEdge(ledger.Genesis{})
	for i := range all[:3] {
		earlier.Append(&all[i], all[i].Append(nil))
	}
	otherSum := earlier // of the same length, and another state
	otherSum.Append(&all[0], all[0].Append(nil))
	const edgePolicy, edgeDigest, edgeTime, edgeSum = 8, 16, 80, 92 // offsets
	at := func(offset int) func(body []byte) []byte {
		return func(body []byte) []byte {
			body[offset] ^= 1
			return body
		}
	}
	// begun has the ledger be a fork.
	begun := func(f ledger.Fork) func(*bbolt.Tx) error {
		g := ledger.Genesis{Forks: []ledger.Fork{f}}
		return put(bucketMeta, []byte(formatKey), g.Append(binary.BigEndian.AppendUint32(nil, format)))
	}
	b := all[1]
	other := ledgertest.Spend("b", token.ID("a/1"))
	other.Request = []byte("another")
	in := func(e ledger.Entry) func(body []byte) []byte { // another entry of the same length in place of one
		raw := e.Append(nil)
		return func(body []byte) []byte { return append(raw, body[len(raw):]...) }
	}
	otherD := all[3]
	otherD.Digest[0]++
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
		"log: first request replaced": {remade(1, other), "request 1: anchor", false},
		"log: first request lost":     {remove(store.TableLog, store.SeqKey(1)), "log", true},
		"log: first request no entry": {put(store.TableLog, store.SeqKey(1), make([]byte, 100)), "request 1", true},
		"log: a body too short":       {put(store.TableLog, store.SeqKey(1), make([]byte, 95)), "request 1", true},
		"log: request changed":        {logged(2, at(5)), "request 2", false},
		"log: another commitment":     {logged(2, flip(64)), "request 2", false},
		"log: another leaf":           {logged(2, flip(1)), "request 2", false},
		"log: another node":           {logged(1, flip(1)), "request 1", false},
		"log: another peak":           {logged(3, flip(1)), "edge", true},
		"log: last request replaced":  {logged(4, in(otherD)), "request 4", true},
		"log: last request's leaf":    {logged(4, flip(1)), "request 4", true},
		"log: last commitment":        {logged(4, flip(64)), "request 4", true},
		"log: last request lost":      {remove(store.TableLog, store.SeqKey(4)), "log", true},
		"log: request too many":       {put(store.TableLog, store.SeqKey(5), other.Append(nil)), "log", true},
		"log: under another policy":   {remade(4, ledgertest.UnderPolicy(1, ledgertest.AtSecond(100, ledgertest.Issue("d", 1)))), "edge", true},
		"log: time goes back":         {remade(4, ledgertest.AtSecond(99, ledgertest.Issue("d", 1))), "request 4", false},
		"log: another policy digest":  {remade(4, ledger.Entry{Anchor: []byte("d"), Time: all[3].Time, PolicyDigest: [64]byte{1}}), "edge", true},
		"edge lost":                   {remove(bucketMeta, []byte(edgeKey)), "meta 65646765", true},
		"edge: an earlier one":        {put(bucketMeta, []byte(edgeKey), earlier.AppendTo(nil)), "log", true},
		"edge: another state":         {put(bucketMeta, []byte(edgeKey), otherSum.AppendTo(nil)), "edge", true},
		"edge: another policy":        {edged(at(edgePolicy + 7)), "edge", true},
		"edge: another digest":        {edged(at(edgeDigest)), "edge", true},
		"edge: another time":          {edged(at(edgeTime + 11)), "edge", true},
		"edge: no time":               {edged(at(edgeTime + 8)), "edge", true},
		"edge: another sum":           {edged(at(edgeSum)), "edge", true},
		"edge: another peak":          {edged(flip(1)), "edge", true},
		"edge: a byte too many":       {edged(func(body []byte) []byte { return append(body, 0) }), "edge", true},
		"fork of another history":     {begun(ledger.Fork{Last: 4}), "request 4", true},
		"fork of an earlier one":      {begun(ledger.Fork{Last: 2}), "request 2", true},
		"fork behind the end":         {begun(ledger.Fork{Last: 5}), "log", true},
		"meta: a key too many":        {put(bucketMeta, []byte("x"), nil), "meta", false},
		"meta: state lost":            {remove(bucketMeta, []byte(stateKey)), "meta 7374617465", true},
		"meta: an earlier state":      {put(bucketMeta, []byte(stateKey), store.SeqKey(3)), "state", true},
		"meta: state of another key": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucketMeta)).Put([]byte(stateKey), boltfile.Seal(bucketMeta, []byte(formatKey), nil))
		}, "meta 7374617465", true},
	} {
		t.Run(name, func(t *testing.T) {
			l, path := newLedger(t)
			for _, e := range all {
				ledgertest.Apply(t, l, e)
			}
			must.Do(t, l.Close())
			db := must.Get(bbolt.Open(path, 0o600, nil))(t)
			must.Do(t, errors.Join(db.Update(c.edit), db.Close()))
			l, err := Open(path)
			if (err != nil) != c.open {
				t.Fatalf("open: %v", err)
			}
			if err == nil {
				defer l.Close()
				_, err = l.Verify(context.Background(), nil)
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
	_, err = l.Verify(ctx, nil)
	ledgertest.Corrupt(t, err, "", "verify")
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
	const batches, each = 50, 256 // requests, as many as are verified between two calls of progress
	for i := range batches {
		batch := make([]ledger.Entry, each)
		for k := range batch {
			batch[k] = ledgertest.Issue(fmt.Sprint("before ", i*each+k), 1)
		}
		ledgertest.Apply(t, l, batch...)
	}
	large := ledgertest.Issue("large", 1)
	large.Request = make([]byte, token.MaxRequest) // the file is far smaller
	written := make(chan error, 1)
	calls := 0
	var last uint64
	l.snapshotTime = 0
	must.Get(l.Verify(ctx, func(done, _ uint64) {
		switch calls++; calls {
		case 1:
			must.Do(t, l.Apply(ctx, []ledger.Entry{ledgertest.Spend("by progress", token.ID("before 40/0"))})) // which would wait for ever for itself
			go func() { written <- l.Apply(ctx, []ledger.Entry{large}) }()
		case 10:
			must.Do(t, <-written)
		}
		last = done
	}))(t)
	if last != batches*each+2 {
		t.Errorf("%d requests verified, want %d, with those that were written meanwhile", last, batches*each+2)
	}

	// Within the time of one snapshot nothing is renewed.
	l.snapshotTime = time.Hour
	calls = 0
	must.Get(l.Verify(ctx, func(uint64, uint64) { calls++ }))(t)
	if calls != batches+1 {
		t.Errorf("%d calls of progress, want %d", calls, batches+1)
	}
	cancelled, cancel := context.WithCancel(ctx)
	l.snapshotTime = 0
	must.FailGet(l.Verify(cancelled, func(uint64, uint64) { cancel() }))(t, context.Canceled, "cancelled by progress")
}
