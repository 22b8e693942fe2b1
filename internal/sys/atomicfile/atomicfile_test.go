package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestWrite: the file is there as a whole with a file's usual mode or that of the one
// before, and nothing is left beside it, whether or not it could be written.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, data := range []string{"first, the longer one", "second"} {
		must.Do(t, atomicfile.Write(path, []byte(data[:3]), []byte(data[3:])))
		golden.Equal(t, "content", data, string(must.Get(os.ReadFile(path))(t)))
	}
	golden.Equal(t, "mode", 0o644, must.Get(os.Stat(path))(t).Mode().Perm())
	must.Do(t, os.Chmod(path, 0o600))
	must.Do(t, atomicfile.Write(path, nil))
	golden.Equal(t, "mode of the file before", 0o600, must.Get(os.Stat(path))(t).Mode().Perm())
	full := filepath.Join(dir, "full")
	must.Do(t, os.MkdirAll(filepath.Join(full, "x"), 0o755))
	if atomicfile.Write(full, nil) == nil {
		t.Error("a directory was written over")
	}
	golden.Equal(t, "files in the directory", 2, len(must.Get(os.ReadDir(dir))(t)))
}

func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, atomicfile.SyncDir(dir))
	if runtime.GOOS != "windows" {
		must.Fail(t, atomicfile.SyncDir(filepath.Join(dir, "none")), fs.ErrNotExist, "no directory")
	}
}
