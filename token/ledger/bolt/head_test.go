package bolt

import (
	"bytes"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// TestHeadDamaged: a head that was changed, or that stands under another key, is not returned.
func TestHeadDamaged(t *testing.T) {
	for name, edit := range map[string]func(value []byte) []byte{
		"leaves":            func(value []byte) []byte { value[7]++; return value },
		"signed":            func(value []byte) []byte { value[8]++; return value },
		"short":             func(value []byte) []byte { return value[:8] },
		"under another key": func(value []byte) []byte { return value },
	} {
		l, _ := newLedger(t)
		must.Do(t, l.PutHead(t.Context(), 1, []byte("one"), true))
		must.Do(t, l.file.Write(func(tx *bbolt.Tx) error {
			heads := tx.Bucket([]byte(store.TableHeads))
			return heads.Put([]byte(store.HeadCounts), edit(bytes.Clone(heads.Get([]byte(store.HeadProposed)))))
		}))
		_, err := l.Head(t.Context())
		ledgertest.Corrupt(t, err, "heads 636f756e7473", name)
		golden.Equal(t, "newest head", "one", string(must.Get(l.Proposed(t.Context()))(t)))
	}
}
