package ledgertest

import (
	"context"
	"errors"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// heads tests that a store returns the head with the most leaves, and the one of a number of leaves that was
// stored last.
func heads(t *testing.T, l Verifier) {
	ctx := context.Background()
	last := func(want string) {
		t.Helper()
		signed, err := l.Head(ctx)
		if err != nil || string(signed) != want {
			t.Errorf("head %q, %v; want %q", signed, err, want)
		}
	}
	last("")
	Apply(t, l, Issue("a", 1), Issue("b", 1))
	for _, put := range []struct {
		leaves       uint64
		signed, want string
	}{{1, "one", "one"}, {3, "three", "three"}, {2, "two", "three"}, {3, "three again", "three again"}} {
		if err := l.PutHead(ctx, put.leaves, []byte(put.signed)); err != nil {
			t.Fatal(err)
		}
		last(put.want)
	}
	for name, c := range map[string]struct {
		leaves uint64
		signed []byte
		cause  error
	}{
		"more leaves than there are": {4, []byte("x"), ledger.ErrNoLeaf},
		"no leaves":                  {0, []byte("x"), zkbench.ErrParams}, "too many leaves": {ledger.MaxRecords + 2, []byte("x"), zkbench.ErrParams},
		"empty": {3, nil, zkbench.ErrParams}, "too long": {3, make([]byte, ledger.MaxHead+1), zkbench.ErrLimit},
	} {
		if err := l.PutHead(ctx, c.leaves, c.signed); !errors.Is(err, c.cause) {
			t.Errorf("%s: %v", name, err)
		}
	}
	last("three again")
}
