package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Fill applies batches to an empty ledger and returns the ledger's log, which the function
// Reader needs.
func Fill(t testing.TB, l ledger.Store) []ledger.Record {
	t.Helper()
	first := l.Genesis().Policy
	for k := range 100 {
		batch := StreamBatch(0, k)
		for i := range batch {
			batch[i].PolicyDigest = first
		}
		Apply(t, l, batch...)
	}
	Apply(t, l, AtSecond(100, Update(0)), AtSecond(100, UnderPolicy(1, Issue("more", 3))))
	records := Records(t, l, 1)
	if len(records) != 302 {
		t.Fatalf("%d records, want 302", len(records))
	}
	return records
}

// SameRecord reports whether two records have the same sequence number and content.
func SameRecord(a, b ledger.Record) bool {
	return a.Seq == b.Seq && a.Commitment == b.Commitment && bytes.Equal(a.Append(nil), b.Append(nil))
}

// Reader tests a reader against what package ledger documents. The reader's ledger must have the
// log that Fill returned.
func Reader(t *testing.T, r ledger.Reader, log []ledger.Record) {
	ctx := context.Background()
	created, spent := map[string][]byte{}, map[string]bool{}
	ids := []token.ID{token.ID("never")}
	for _, record := range log {
		got, found, err := r.Record(ctx, record.Anchor)
		if err != nil || !found || !SameRecord(record, got) {
			t.Fatalf("record of %s: %d, %v, %v; want %d", record.Anchor, got.Seq, found, err, record.Seq)
		}
		for _, c := range record.Creates {
			created[string(c.ID)], ids = c.Token, append(ids, c.ID)
		}
		for _, id := range record.Spends {
			spent[string(id)], ids = true, append(ids, id)
		}
	}
	if _, found, err := r.Record(ctx, []byte("never")); found || err != nil {
		t.Errorf("a record that is not there: %v, %v", found, err)
	}
	all, err := r.Tokens(ctx, ids)
	if err != nil || len(all) != len(ids) {
		t.Fatalf("%d answers on %d tokens: %v", len(all), len(ids), err)
	}
	for i, id := range ids {
		encoded, made := created[string(id)]
		var want error
		switch {
		case !made:
			want = ledger.ErrNotFound
		case spent[string(id)]:
			want = zkbench.ErrSpent
		}
		alone, err := r.Token(ctx, id)
		for what, got := range map[string]ledger.Found{"alone": {Token: alone, Err: err}, "among others": all[i]} {
			if !errors.Is(got.Err, want) || want == nil && (got.Err != nil || string(got.Token) != string(encoded)) || want != nil && got.Token != nil {
				t.Errorf("token %s, %s: %q, %v; want %q, %v", id, what, got.Token, got.Err, encoded, want)
			}
		}
	}
	for _, from := range []int{0, 1, 2, 257, len(log), len(log) + 1, len(log) + 100} {
		if got, want := Records(t, r, uint64(from)), log[min(max(from, 1)-1, len(log)):]; !slices.EqualFunc(want, got, SameRecord) {
			t.Errorf("log from %d: %d records, or others than there are; want %d", from, len(got), len(want))
		}
	}
	for range r.Log(ctx, 1) { // a caller that stops early gets no more records
		break
	}
	proofs(t, r, log)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for name, call := range map[string]func() error{
		"token":  func() error { _, err := r.Token(ended, ids[1]); return err },
		"tokens": func() error { _, err := r.Tokens(ended, ids); return err },
		"record": func() error { _, _, err := r.Record(ended, log[0].Anchor); return err },
		"hashes": func() error { _, err := r.Hashes(ended, []int64{2}); return err },
		"log": func() error {
			for _, err := range r.Log(ended, 1) {
				return err
			}
			return fmt.Errorf("no records")
		},
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled: %v", name, err)
		}
	}
}

// proofs tests that a reader proves that each record is in its log, and that the log continues each earlier one.
func proofs(t *testing.T, r ledger.Reader, log []ledger.Record) {
	t.Helper()
	ctx := context.Background()
	genesis := r.Genesis()
	edge := ledger.NewEdge(genesis)
	roots := []tlog.Hash{edge.Root()} // by number of records
	leaves := []tlog.Hash{genesis.Leaf()}
	for i := range log {
		if commitment, _ := edge.Append(&log[i].Entry, log[i].Append(nil)); commitment != log[i].Commitment {
			t.Fatalf("record %d commits to another state", log[i].Seq)
		}
		roots, leaves = append(roots, edge.Root()), append(leaves, log[i].Leaf())
	}
	for _, size := range []uint64{1, 2, 3, 8, 200, 256, 257, uint64(len(log) + 1)} {
		for _, seq := range []uint64{0, 1, size / 2, size - 1} {
			if seq >= size {
				continue
			}
			p, err := ledger.Inclusion(ctx, r, size, seq)
			if err == nil {
				err = ledger.CheckInclusion(p, size, roots[size-1], seq, leaves[seq])
			}
			if err != nil {
				t.Errorf("leaf %d of %d: %v", seq, size, err)
			}
			if other := leaves[seq] == leaves[size-1]; !other && ledger.CheckInclusion(p, size, roots[size-1], seq, leaves[size-1]) == nil {
				t.Errorf("leaf %d of %d: proved for another leaf", seq, size)
			}
			p2, err := ledger.Consistency(ctx, r, seq+1, size)
			if err == nil {
				err = tlog.CheckTree(p2, int64(size), roots[size-1], int64(seq+1), roots[seq])
			}
			if err != nil {
				t.Errorf("%d leaves after %d: %v", size, seq+1, err)
			}
		}
	}
	if _, err := ledger.Inclusion(ctx, r, uint64(len(log)+2), 1); !errors.Is(err, ledger.ErrNoLeaf) {
		t.Errorf("a tree that is not there yet: %v", err)
	}
	if _, err := ledger.Consistency(ctx, r, uint64(len(log)+9), uint64(len(log)+9)); !errors.Is(err, ledger.ErrNoLeaf) {
		t.Errorf("two trees that are not there yet: %v", err)
	}
	if _, err := r.Hashes(ctx, make([]int64, ledger.MaxHashes+1)); !errors.Is(err, zkbench.ErrLimit) {
		t.Errorf("too many hashes: %v", err)
	}
	for name, indexes := range map[string][]int64{"below zero": {-1}, "beyond": {1 << 62}, "the last": {math.MaxInt64}} {
		if _, err := r.Hashes(ctx, indexes); !errors.Is(err, zkbench.ErrParams) && !errors.Is(err, ledger.ErrNoLeaf) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
