//go:build unix

package mapped

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/zkbench/zkbench/internal/must"
)

// TestReadOnly: a write to what was read is a fault, and so cannot go unseen.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(path, []byte("read"), 0o600))
	data, free, err := Read(path, 4)
	must.Do(t, err)
	defer func() {
		if recover() == nil {
			t.Error("memory that was read can be written")
		}
		must.Do(t, free())
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	data[0] = 0
}
