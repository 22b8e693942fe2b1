package secretfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/sys/secretfile"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestRead: a file of its owner alone is read up to the limit. A file that others can open in any way is refused.
func TestRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	must.FailGet(secretfile.Read(path, 10))(t, fs.ErrNotExist, "no file")
	must.Do(t, os.WriteFile(path, []byte("hunter2"), 0o600))
	golden.Equal(t, "contents", "hunter2", string(must.Get(secretfile.Read(path, 10))(t)))
	golden.Equal(t, "contents", "hun", string(must.Get(secretfile.Read(path, 3))(t)))
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing about others")
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o610, 0o601} {
		must.Do(t, os.Chmod(path, mode))
		_, err := secretfile.Read(path, 10)
		if open, ok := errors.AsType[*secretfile.ModeError](err); !ok || open.Mode != mode || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	must.Do(t, os.Chmod(path, 0o400))
	golden.Equal(t, "contents", "hunter2", string(must.Get(secretfile.Read(path, 10))(t)))
}
