package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// TestVerifyNamesThePlace: buckets that are sound by themselves and contradict
// each other. Each edit is sealed with its right checksum.
func TestVerifyNamesThePlace(t *testing.T) {
	put := func(bucket string, key []byte, body []byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucket)).Put(key, seal(bucket, key, bytes.Clone(body)))
		}
	}
	remove := func(bucket string, key []byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucket)).Delete(key) }
	}
	both := func(a, b func(*bbolt.Tx) error) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return errors.Join(a(tx), b(tx)) }
	}
	tokens := func(id string, s state) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucketTokens)).Put([]byte(id), s.seal([]byte(id))) }
	}
	anchor := func(a anchored) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucketAnchors)).Put([]byte("b"), a.seal([]byte("b")))
		}
	}
	a, b := ledgertest.Issue("a", 2), ledgertest.Spend("b", token.ID("a/1"))
	other := ledgertest.Spend("b", token.ID("a/1"))
	other.Request = []byte("another")
	for name, c := range map[string]struct {
		edit  func(*bbolt.Tx) error
		place string
		open  bool // found on opening
	}{
		"nothing":                     {func(*bbolt.Tx) error { return nil }, "", false},
		"token resurrected":           {both(tokens("a/1", state{status: unspent, created: 1, token: []byte("token")}), remove(bucketSpent, []byte("a/1"))), "request 2: spend 0", false},
		"token resurrected by half":   {remove(bucketSpent, []byte("a/1")), "request 1: create 1", false},
		"token lost":                  {both(remove(bucketTokens, []byte("a/1")), remove(bucketSpent, []byte("a/1"))), "request 1: create 1", false},
		"token spent by nobody":       {both(tokens("a/0", state{status: spent, created: 1, spent: 2}), put(bucketSpent, []byte("a/0"), seqKey(2))), "bucket spent", false},
		"token of nobody":             {tokens("x", state{status: unspent, created: 2, token: []byte("token")}), "bucket tokens", false},
		"token of other bytes":        {tokens("a/0", state{status: unspent, created: 1, token: []byte("taken")}), "request 1: create 0", false},
		"token of another request":    {tokens("a/0", state{status: unspent, created: 2, token: []byte("token")}), "request 1: create 0", false},
		"anchor lost":                 {remove(bucketAnchors, []byte("b")), "request 2: anchor", false},
		"anchor of another digest":    {anchor(anchored{2, [32]byte{9}}), "request 2: anchor", false},
		"anchor of another request":   {anchor(anchored{1, b.Digest}), "request 2: anchor", false},
		"anchor of nobody":            {put(bucketAnchors, []byte("x"), make([]byte, 40)), "bucket anchors", false},
		"log: first request replaced": {put(bucketLog, seqKey(1), other.Append(nil)), "request 1: anchor", false},
		"log: first request lost":     {remove(bucketLog, seqKey(1)), "request 1", false},
		"log: first request no entry": {put(bucketLog, seqKey(1), []byte{1}), "request 1", false},
		"log: last request replaced":  {put(bucketLog, seqKey(4), other.Append(nil)), "requests 4 to 4", true},
		"log: last request lost":      {remove(bucketLog, seqKey(4)), "log", true},
		"log: request too many":       {put(bucketLog, seqKey(5), other.Append(nil)), "log", true},
		"chain: another hash":         {put(bucketChain, seqKey(1), append(seqKey(1), make([]byte, 32)...)), "requests 1 to 1", false},
		"chain: a batch lost":         {remove(bucketChain, seqKey(1)), "request 1", false},
		"chain: the last lost":        {remove(bucketChain, seqKey(4)), "log", true},
		"chain: batches overlap":      {put(bucketChain, seqKey(2), append(seqKey(1), make([]byte, 32)...)), "request 2", false},
		"meta: a key too many":        {put(bucketMeta, []byte("x"), nil), "bucket meta", false},
	} {
		t.Run(name, func(t *testing.T) {
			l, path := newLedger(t)
			apply(t, l, a)
			apply(t, l, b)
			apply(t, l, ledgertest.Issue("c", 1))
			apply(t, l, ledgertest.Issue("d", 1))
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			db, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Update(c.edit), db.Close()); err != nil {
				t.Fatal(err)
			}
			l, err = Open(path)
			if (err != nil) != c.open {
				t.Fatalf("open: %v", err)
			}
			if err == nil {
				defer l.Close()
				err = l.Verify(context.Background(), nil)
			}
			var corrupt *ledger.CorruptError
			if c.place == "" && err == nil {
				return
			}
			if !errors.As(err, &corrupt) || corrupt.Place != c.place {
				t.Errorf("%v, want the place %q", err, c.place)
			}
		})
	}
}

func TestVerifyProgress(t *testing.T) {
	l, _ := newLedger(t)
	apply(t, l, ledgertest.Issue("a", 1), ledgertest.Issue("b", 1))
	apply(t, l, ledgertest.Issue("c", 1))
	var got []uint64
	ctx, cancel := context.WithCancel(context.Background())
	progress := func(done, total uint64) { got = append(got, done, total) }
	if err := l.Verify(ctx, progress); err != nil {
		t.Fatal(err)
	}
	if want := []uint64{2, 3, 3, 3}; !bytes.Equal(asBytes(got), asBytes(want)) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := l.Verify(ctx, func(uint64, uint64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func asBytes(n []uint64) (b []byte) {
	for _, v := range n {
		b = append(b, seqKey(v)...)
	}
	return b
}

// TestUnsealState: the two buckets must agree, and each value must be in its
// place.
func TestUnsealState(t *testing.T) {
	id := []byte("id")
	live := state{status: unspent, created: 3, token: []byte("token")}
	dead := state{status: spent, created: 3, spent: 5}
	mark := func(id []byte, seq uint64) []byte { return seal(bucketSpent, id, seqKey(seq)) }
	flipped := func(b []byte) []byte {
		b[0] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		tokens, spent []byte
		want          status
		reason        string // none: no error
	}{
		"absent":               {nil, nil, absent, ""},
		"unspent":              {live.seal(id), nil, unspent, ""},
		"spent":                {dead.seal(id), mark(id, 5), spent, ""},
		"only marked":          {nil, mark(id, 5), absent, "not in bucket tokens"},
		"unspent and marked":   {live.seal(id), mark(id, 5), absent, "unspent in bucket tokens"},
		"spent and not marked": {dead.seal(id), nil, absent, "not in bucket spent"},
		"spent by another":     {dead.seal(id), mark(id, 6), absent, "different requests"},
		"of another id":        {live.seal([]byte("di")), nil, absent, "wrong checksum"},
		"mark of another id":   {dead.seal(id), mark([]byte("di"), 5), absent, "wrong checksum"},
		"flipped":              {flipped(live.seal(id)), nil, absent, "wrong checksum"},
		"mark flipped":         {dead.seal(id), flipped(mark(id, 5)), absent, "wrong checksum"},
		"short":                {[]byte{1, 2, 3}, nil, absent, "too few"},
		"mark short":           {dead.seal(id), []byte{}, absent, "too few"},
		"unspent, no token":    {(&state{status: unspent, created: 3}).seal(id), nil, absent, "not a state"},
		"spent, with a token":  {(&state{status: spent, created: 3, spent: 5, token: []byte{1}}).seal(id), mark(id, 5), absent, "not a state"},
		"spent before created": {(&state{status: spent, created: 3, spent: 3}).seal(id), mark(id, 3), absent, "not a state"},
		"status 3":             {(&state{status: 3, created: 3, token: []byte{1}}).seal(id), nil, absent, "not a state"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := unsealState(id, c.tokens, c.spent)
			if (err == nil) != (c.reason == "") || s.status != c.want {
				t.Fatalf("status %d, %v", s.status, err)
			}
			var corrupt *ledger.CorruptError
			if err != nil && (!errors.As(err, &corrupt) || !strings.Contains(corrupt.Reason, c.reason)) {
				t.Errorf("%v, want %q", err, c.reason)
			}
		})
	}
}

// TestPages: damage to the structure of which bbolt would make endless
// recursion, a write over live pages, or a part of a bucket.
func TestPages(t *testing.T) {
	v := newVictim(t)
	header := func(page int) []byte { return v.data[page*smallPage:] }
	find := func(flags uint16, in map[uint64]bool) int {
		for page := 2; page < len(v.data)/smallPage; page++ {
			if h := header(page); native.Uint16(h[8:]) == flags && native.Uint64(h) == uint64(page) && in[uint64(page)] {
				return page
			}
		}
		t.Fatalf("no page with flags %#x", flags)
		return 0
	}
	live := reachable(t, v)
	branch, leaf, free := find(flagBranch, live), find(flagLeaf, live), find(flagFreelist, live)
	for name, c := range map[string]struct {
		page   int
		edit   func(p []byte)
		reason string
	}{
		"branch to itself":        {branch, func(p []byte) { native.PutUint64(p[24:], uint64(branch)) }, "reached twice"},
		"branch to a meta page":   {branch, func(p []byte) { native.PutUint64(p[24:], 1) }, "accepted are"},
		"branch beyond the file":  {branch, func(p []byte) { native.PutUint64(p[24:], 1<<63) }, "accepted are"},
		"branch of none":          {branch, func(p []byte) { native.PutUint16(p[10:], 0) }, "without children"},
		"leaf of one less":        {leaf, func(p []byte) { native.PutUint16(p[10:], native.Uint16(p[10:])-1) }, "want it at"},
		"leaf of an empty key":    {leaf, func(p []byte) { native.PutUint32(p[24:], 0) }, "a key of 0 bytes"},
		"leaf of a huge value":    {leaf, func(p []byte) { native.PutUint32(p[28:], 1<<31) }, "beyond its end"},
		"leaf with another id":    {leaf, func(p []byte) { native.PutUint64(p, uint64(leaf)+1) }, fmt.Sprintf("has the number %d", leaf+1)},
		"leaf with overflow":      {leaf, func(p []byte) { native.PutUint32(p[12:], 1<<31) }, "accepted are"},
		"leaf as a freelist":      {leaf, func(p []byte) { native.PutUint16(p[8:], flagFreelist) }, "neither branch nor leaf"},
		"free list: live page":    {free, func(p []byte) { native.PutUint64(p[16:], 2) }, ""},
		"free list: one less":     {free, func(p []byte) { native.PutUint16(p[10:], native.Uint16(p[10:])-1) }, "neither in use nor free"},
		"free list: too many":     {free, func(p []byte) { native.PutUint16(p[10:], 0xfffe) }, "free pages in"},
		"free list: out of order": {free, func(p []byte) { native.PutUint64(p[24:], native.Uint64(p[16:])) }, "out of order"},
		"free list: a leaf":       {free, func(p []byte) { native.PutUint16(p[8:], flagLeaf) }, "not a list of free pages"},
	} {
		t.Run(name, func(t *testing.T) {
			data := bytes.Clone(v.data)
			page := data[c.page*smallPage : (c.page+1)*smallPage]
			c.edit(page)
			if c.reason == "" { // the first page that is in use, in place of a free one
				for id := uint64(2); ; id++ {
					if live[id] {
						native.PutUint64(page[16:], id)
						break
					}
				}
				c.reason = "reached twice"
			}
			err := checkFile(bytes.NewReader(data), int64(len(data)))
			var corrupt *ledger.CorruptError
			if !errors.As(err, &corrupt) || !strings.Contains(corrupt.Reason, c.reason) {
				t.Errorf("%v, want %q", err, c.reason)
			}
		})
	}
}

// reachable are the pages in use.
func reachable(t *testing.T, v *victim) map[uint64]bool {
	t.Helper()
	r := bytes.NewReader(v.data)
	m0, err := readMeta(r, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	m1, err := readMeta(r, 1, smallPage)
	if err != nil {
		t.Fatal(err)
	}
	m := m0
	if m1.txid > m0.txid {
		m = m1
	}
	p := newPages(r, smallPage, m.high)
	if err := p.tree(m.root); err != nil {
		t.Fatal(err)
	}
	live := map[uint64]bool{m.freelist: true}
	for id := range m.high {
		if p.seen[id/64]>>(id%64)&1 != 0 {
			live[id] = true
		}
	}
	return live
}

// TestFault: pages that vanish under an open ledger are an error, not the end
// of the process; after it the ledger writes nothing.
func TestFault(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be cut")
	}
	l, path := newLedger(t)
	ctx := context.Background()
	apply(t, l, ledgertest.Issue("a", 200))
	apply(t, l, ledgertest.Issue("b", 1))
	if err := os.Truncate(path, int64(2*os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	var corrupt *ledger.CorruptError
	if _, err := l.Token(ctx, token.ID("a/0")); !errors.As(err, &corrupt) {
		t.Errorf("token: %v", err)
	}
	if err := l.Verify(ctx, nil); !errors.As(err, &corrupt) {
		t.Errorf("verify: %v", err)
	}
	for range 2 {
		if err := l.Apply(ctx, []ledger.Entry{ledgertest.Spend("c", token.ID("a/0"))}); !errors.As(err, &corrupt) || !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("apply: %v", err)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != int64(2*os.Getpagesize()) {
		t.Errorf("the file was written to, or %v", err)
	}
}
