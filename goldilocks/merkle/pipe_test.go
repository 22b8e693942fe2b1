//go:build unix

package merkle_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestOpenPipe: a pipe, which opens when another writes to it, is refused before.
func TestOpenPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tree")
	must.Do(t, syscall.Mkfifo(path, 0o600))
	for _, path := range []string{path, "/dev/null"} {
		must.FailGet(merkle.OpenFile(path))(t, zkbench.ErrMalformed, "%s", path)
	}
}
