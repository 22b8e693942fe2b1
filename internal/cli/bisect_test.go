package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// TestBisect: of six commits the fourth made the stub slower; the third does not answer.
func TestBisect(t *testing.T) {
	testsize.Full(t)
	repo := stubRepository(t, []stubRevision{
		{"base", "1e5", "ok", "Sender"},
		{"one", "1.001e5", "ok", "Sender"},
		{"two", "1.002e5", "ok", "Sender"},
		{"broken", "1e5", "failed", "Sender"},
		{"culprit", "1.3e5", "ok", "Sender"},
		{"five", "1.302e5", "ok", "Sender"},
		{"six", "1.301e5", "ok", "Sender"},
	})
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	bisect := func(args ...string) (out, messages string, code int) {
		return command(t, append([]string{"bisect"}, append(args, "sender", "--metric", "mean", "--processes", "8")...)...)
	}
	out, messages, code := bisect("base..six")
	golden.Equal(t, "exit code", ExitPartial, code)
	golden.Contains(t, messages, "failed twice: on purpose")
	if left := regexp.MustCompile(`(?m)^left: [0-9a-f]+ (\w+)$`).FindAllStringSubmatch(out, -1); len(left) != 2 || left[0][1] != "broken" || left[1][1] != "culprit" {
		t.Errorf("left: %v\n%s", left, out)
	}
	golden.Contains(t, out, "mean of Sender/", "- ", " six: latency-mean +30", "? ", " broken: ")
	for _, test := range []struct {
		revisions, says string
		code            int
	}{
		{"broken..six", "failed twice: on purpose", ExitFailed}, // the good revision cannot be measured
		{"two..two", `range: "two..two" is not accepted; accepted: GOOD..BAD, where GOOD is an ancestor of BAD`, ExitUsage},
		{"six..base", `range: "six..base" is not accepted`, ExitUsage},
		{"base..two", "two is not shown to be worse than base beyond 3 %: latency-mean +0.", ExitUsage},
	} {
		out, messages, code := bisect(test.revisions)
		golden.Equal(t, test.revisions+": exit code", test.code, code)
		golden.Contains(t, messages, test.says)
		if strings.Contains(out, "made it worse") {
			t.Errorf("%s: %s", test.revisions, out)
		}
	}
	clean(t, repo, temp)
}

// TestBisectFinds: all commits answer, and the one is found.
func TestBisectFinds(t *testing.T) {
	testsize.Full(t)
	stubRepository(t, []stubRevision{
		{"base", "1e5", "ok", "Sender"}, {"one", "1.001e5", "ok", "Sender"}, {"culprit", "1.3e5", "ok", "Sender"}, {"three", "1.302e5", "ok", "Sender"}, {"four", "1.301e5", "ok", "Sender"},
	})
	out, messages, code := command(t, "bisect", "base..four", "sender", "--metric", "mean", "--processes", "8")
	golden.Equal(t, "exit code", ExitOK, code)
	if !regexp.MustCompile(`(?m)^[0-9a-f]+ culprit made it worse, \+30\.\d % in all$`).MatchString(out) {
		t.Errorf("%s%s", out, messages)
	}
	golden.Equal(t, "steps of four commits", 3, strings.Count(out, "latency-mean"))
	out, _, code = command(t, "bisect", "base..one", "sender", "--metric", "mean", "--processes", "1", "--budget", "0s")
	golden.Equal(t, "exit code of one commit that could not be judged", ExitPartial, code)
	golden.Contains(t, out, "left: ", " one\n")
	golden.Equal(t, "steps", 1, strings.Count(out, "latency-mean"))
}

// TestCompareCountRefuses: a revision that does not know how to count is told.
func TestCompareCountRefuses(t *testing.T) {
	testsize.Full(t)
	repo := stubs(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	_, messages, code := command(t, "compare", "--git", "base..slower", "sender", "--count")
	golden.Equal(t, "exit code", ExitFailed, code)
	golden.Contains(t, messages, "building base ", " to count\n", "1/1: counting Sender, 1 worker, ",
		"zkbench: Sender/bits=32: unsuitable environment: the program counted nothing; accepted: a revision that can count")
	_, messages, code = command(t, "compare", "--git", "base..slower", "sender", "--count", "--processes", "8")
	golden.Equal(t, "exit code", ExitUsage, code)
	golden.Contains(t, messages, `"--processes" is not accepted; accepted: --processes without --count`)
	clean(t, repo, temp)
}
