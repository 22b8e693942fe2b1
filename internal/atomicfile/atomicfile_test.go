package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench/internal/atomicfile"
	"github.com/zkbench/zkbench/internal/must"
)

// TestWrite: the file is there as a whole with a file's usual mode, and nothing is left
// beside it, whether or not it could be written.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, data := range []string{"first, the longer one", "second"} {
		must.Do(t, atomicfile.Write(path, []byte(data)))
		if got, err := os.ReadFile(path); err != nil || string(got) != data {
			t.Errorf("%q (%v), want %q", got, err, data)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v (%v), want 0644", info.Mode(), err)
	}
	full := filepath.Join(dir, "full")
	must.Do(t, os.MkdirAll(filepath.Join(full, "x"), 0o755))
	if atomicfile.Write(full, nil) == nil {
		t.Error("a directory was written over")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left in the directory: %v (%v)", left, err)
	}
}
