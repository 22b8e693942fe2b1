//go:build unix

package mapped

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestReadFits: a file that is larger than the memory is refused, not read.
func TestReadFits(t *testing.T) {
	const size = 1 << 42 // of which nothing is on the disk
	if memory.FitsOffHeap("the file", size) == nil {
		t.Skip("this system does not say how much memory it has")
	}
	path := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	if err := os.Truncate(path, size); err != nil {
		t.Skip("no file system for a file with holes: ", err)
	}
	if _, _, err := Read(path, size); !errors.Is(err, zkbench.ErrLimit) {
		t.Errorf("%v, want a limit", err)
	}
}

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
