package bench_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/gittest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// mine is a program in another module; its operation allocates the given number of bytes.
const mine = `package main

import (
	"context"
	"math/rand/v2"

	"github.com/zkbench/zkbench/bench"
)

func main() {
	bench.Main(bench.Def{Name: "Make", Doc: "makes bytes", New: func(context.Context, bench.Case, uint64) (bench.Instance, error) {
		return bench.Operation[int]{
			Input: func(context.Context, *rand.ChaCha8) (int, error) { return BYTES, nil },
			Run: func(_ context.Context, n int) ([]byte, error) { return make([]byte, n), nil },
			Check: func(context.Context, int, []byte) error { return nil },
		}, nil
	}})
}
`

// TestCompareGit: a program of another module, below the root of another repository, compares
// revisions of itself.
func TestCompareGit(t *testing.T) {
	testsize.Full(t)
	root := must.Get(filepath.Abs(".."))(t)
	ours := string(must.Get(os.ReadFile(filepath.Join(root, "go.mod")))(t))
	_, needs, _ := strings.Cut(ours, "\n")
	repo := gittest.New(t)
	repo.Write(t, map[string]string{
		"sub/go.mod": "module mine\n" + needs + "\nrequire github.com/zkbench/zkbench v0.0.0\n\nreplace github.com/zkbench/zkbench => " + root + "\n",
		"sub/go.sum": string(must.Get(os.ReadFile(filepath.Join(root, "go.sum")))(t)),
	})
	for _, rev := range []struct{ name, bytes string }{{"more", "2000"}, {"base", "1000"}} { // the program that runs is of the second
		repo.Commit(t, rev.name, map[string]string{"sub/cmd/mine/main.go": strings.Replace(mine, "BYTES", rev.bytes, 1)})
	}
	program := filepath.Join(t.TempDir(), "mine.exe")
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = filepath.Join(repo.Dir, "sub")
		out, err := cmd.CombinedOutput()
		must.Do(t, err)
		return string(out)
	}
	run("go", "build", "-trimpath", "-buildvcs=false", "-o", program, "./cmd/mine")
	out := run(program, "compare", "--git", "base..more", "make", "--processes", "1", "--duration", "1ms")
	golden.Contains(t, out, "building base ", "building more ", "Make/workers=1\n", "1024 B/op", "2048 B/op", " grew\n")
	golden.Equal(t, "worktrees", 1, repo.Worktrees(t))
}
