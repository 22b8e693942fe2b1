package cli

import (
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestBaseline: what a run saves is the old side of a comparison; names are no paths; what
// fails is not saved.
func TestBaseline(t *testing.T) {
	t.Chdir(t.TempDir())
	run := func(code int, args ...string) (out, messages string) {
		t.Helper()
		out, messages, got := command(t, args...)
		if got != code {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, got, code, out, messages)
		}
		return out, messages
	}
	_, messages := run(ExitUsage, "compare", "--baseline", "main", "new.jsonl")
	golden.Contains(t, messages, `baseline: "main" is not accepted; accepted: a name that run --save-baseline has saved in this directory: none yet`)
	run(ExitOK, "run", "sender", "--bits", "8", "--duration", "50ms", "--processes", "8", "--save-baseline", "main", "--json", "new.jsonl")
	out, _ := run(ExitOK, "compare", "--baseline", "main", "new.jsonl")
	golden.Contains(t, out, "old: baseline main, 8 processes", "new: new.jsonl, 8 processes")
	golden.Equal(t, "what git leaves out", "*\n", string(must.Get(os.ReadFile(".zkbench/.gitignore"))(t)))
	_, messages = run(ExitUsage, "compare", "--baseline", "other", "new.jsonl")
	golden.Contains(t, messages, "has saved in this directory: main")
	before := must.Get(os.Stat("new.jsonl"))(t).Size()
	for _, bad := range []string{"../main", "a/b", ".", "..", "", "a b"} {
		run(ExitUsage, "run", "sender", "--bits", "8", "--save-baseline="+bad, "--json", "new.jsonl")
	}
	golden.Equal(t, "size of a file that no refused run may touch", before, must.Get(os.Stat("new.jsonl"))(t).Size())
	run(ExitFailed, "run", "broken-operation", "--save-baseline", "broken")
	run(ExitFailed, "run", "sender", "--bits", "8", "--duration", "50ms", "--fail-if", "p50>0s", "--save-baseline", "slow")
	golden.Equal(t, "baselines", "a name that run --save-baseline has saved in this directory: main, slow", savedBaselines())
}
