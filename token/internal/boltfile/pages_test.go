package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

const smallPage = 1024

// sample returns a small file as bytes, and as it was some transactions before: a bucket
// with branches, values with overflow pages, an inline bucket, and free pages.
func sample(t testing.TB) (data, earlier []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	db := must.Get(bbolt.Open(path, 0o600, &bbolt.Options{PageSize: smallPage, NoSync: true}))(t)
	defer db.Close()
	rng := rand.New(rand.NewPCG(1, 3))
	key := func() []byte { return binary.BigEndian.AppendUint32(nil, rng.Uint32N(100)) }
	fill := func(tx *bbolt.Tx) error {
		many, err := tx.CreateBucketIfNotExists(bucket)
		if err != nil {
			return err
		}
		few, err := tx.CreateBucketIfNotExists([]byte("inline"))
		if err != nil {
			return err
		}
		for i := range 6 {
			err = errors.Join(err, many.Put(key(), make([]byte, 100+900*(i/5))), many.Delete(key()))
		}
		return errors.Join(err, few.Put([]byte("last"), key()))
	}
	for k := range 6 {
		must.Do(t, db.Update(fill))
		if k != 3 && k != 5 {
			continue
		}
		earlier = data
		data = must.Get(os.ReadFile(path))(t)
	}
	return data, earlier
}

// TestSound: what bbolt writes passes.
func TestSound(t *testing.T) {
	data, earlier := sample(t)
	for name, data := range map[string][]byte{"last": data, "earlier": earlier} {
		must.Do(t, checkFile(bytes.NewReader(data), int64(len(data))), name)
	}
}

// TestPages: damage to the structure of which bbolt would make endless
// recursion, a write over live pages, or a part of a bucket.
func TestPages(t *testing.T) {
	sound, _ := sample(t)
	header := func(page int) []byte { return sound[page*smallPage:] }
	find := func(flags uint16, in map[uint64]bool) int {
		for page := 2; page < len(sound)/smallPage; page++ {
			if h := header(page); native.Uint16(h[8:]) == flags && native.Uint64(h) == uint64(page) && in[uint64(page)] {
				return page
			}
		}
		t.Fatalf("no page with flags %#x", flags)
		return 0
	}
	live := reachable(t, sound)
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
			data := bytes.Clone(sound)
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
			if corrupt, ok := errors.AsType[*ledger.CorruptError](err); !ok || !strings.Contains(corrupt.Reason, c.reason) {
				t.Errorf("%v, want %q", err, c.reason)
			}
		})
	}
}

// reachable returns the pages in use.
func reachable(t *testing.T, data []byte) map[uint64]bool {
	t.Helper()
	r := bytes.NewReader(data)
	m0 := must.Get(readMeta(r, 0, 0))(t)
	m1 := must.Get(readMeta(r, 1, smallPage))(t)
	m := m0
	if m1.txid > m0.txid {
		m = m1
	}
	p := newPages(r, smallPage, m.high)
	must.Do(t, p.tree(m.root))
	live := map[uint64]bool{m.freelist: true}
	for id := range m.high {
		if p.seen[id/64]>>(id%64)&1 != 0 {
			live[id] = true
		}
	}
	return live
}

// TestCheckFileMeta: one good meta page is not enough, or the last batch could
// be lost unnoticed.
func TestCheckFileMeta(t *testing.T) {
	sound, _ := sample(t)
	for page := range 2 {
		data := bytes.Clone(sound)
		data[page*smallPage+headerLen+48] ^= 1 // the transaction's number
		err := checkFile(bytes.NewReader(data), int64(len(data)))
		ledgertest.Corrupt(t, err, fmt.Sprintf("page %d", page), "one damaged page")
	}
}

// FuzzCheckFile: no bytes make the check fail otherwise than by its errors.
func FuzzCheckFile(f *testing.F) {
	data, earlier := sample(f)
	f.Add(data)
	f.Add(earlier)
	f.Add(data[:5*smallPage])
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := checkFile(bytes.NewReader(data), int64(len(data))); err != nil && !errors.Is(err, zkbench.ErrMalformed) {
			t.Fatal(err)
		}
	})
}
