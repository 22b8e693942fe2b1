package bolt

import (
	"errors"
	"os"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// TestReplaced replaces a ledger's file while ten callers pay. No payment is acknowledged that the file at the path
// does not have.
func TestReplaced(t *testing.T) {
	for name, replace := range map[string]func(t *testing.T, path string, backup []byte){
		"deleted": func(t *testing.T, path string, _ []byte) { must.Do(t, os.Remove(path)) },
		"renamed": func(t *testing.T, path string, _ []byte) { must.Do(t, os.Rename(path, path+".old")) },
		"exchanged for its backup": func(t *testing.T, path string, backup []byte) {
			must.Do(t, os.WriteFile(path+".backup", backup, 0o600))
			must.Do(t, os.Rename(path+".backup", path))
		},
		"overwritten by its backup": func(t *testing.T, path string, backup []byte) {
			file := must.Get(os.OpenFile(path, os.O_WRONLY, 0))(t)
			must.Get(file.Write(backup))(t)
			must.Do(t, file.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, path := newLedger(t)
			ledgertest.Apply(t, l, ledgertest.Issue("before", 1))
			backup := must.Get(os.ReadFile(path))(t)
			ledgertest.RolledBack(t, l, func() { replace(t, path, backup) }, func(err error) bool {
				if name == "overwritten by its backup" && errors.As(err, new(*ledger.CorruptError)) {
					return true // a transaction that ran meanwhile may see any mixture of both files
				}
				replaced, ok := errors.AsType[*ledger.ReplacedError](err)
				return ok && replaced.Path == path && errors.Is(err, zkbench.ErrEnv)
			})
		})
	}
}
