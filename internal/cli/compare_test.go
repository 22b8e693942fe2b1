package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/gittest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// stub is the command of a revision that measures nothing. Its latency is its constant LATENCY with
// a little noise. Its seventh process connects to an address in its environment.
const stub = `package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	var job struct {
		Workload string
		Case     json.RawMessage
		Settings struct {
			Duration int64
			Seed     uint64
		}
	}
	var axes struct{ Bits string }
	if len(os.Args) != 2 || os.Args[1] != "exec-case" || json.NewDecoder(os.Stdin).Decode(&job) != nil || json.Unmarshal(job.Case, &axes) != nil {
		os.Exit(2)
	}
	if !strings.Contains("KNOWN", job.Workload) {
		fmt.Fprintln(os.Stderr, "zkbench: workload: not accepted")
		os.Exit(2)
	}
	if address := os.Getenv("STUB_ADDRESS"); address != "" && job.Settings.Duration > 1e6 {
		mark := filepath.Join(os.Getenv("STUB_DIR"), "seventh")
		marks, _ := filepath.Glob(mark + "*")
		if len(marks) == 6 {
			if conn, err := net.Dial("tcp", address); err == nil {
				conn.Read(make([]byte, 1)) // until it is interrupted
			}
		}
		os.WriteFile(mark+fmt.Sprint(len(marks)), nil, 0o666)
	}
	latency := LATENCY * (1 + rand.Float64()/1e4) // the ratio of two stubs is 1.2 to four digits
	fmt.Printf("{\"schema\":1,\"id\":\"x\",\"status\":\"STATUS\",\"error\":\"on purpose\",\"seed\":%d,\"workload\":%q,\"case\":\"bits=%s\",\"axes\":%s,"+
		"\"metrics\":[{\"name\":\"latency-mean\",\"unit\":\"ns\",\"value\":%f,\"kind\":\"timed\"}]}\n", job.Settings.Seed, job.Workload, axes.Bits, job.Case, latency)
}
`

// stubs makes a repository whose revisions are stubs, tagged by name, and
// enters it.
func stubs(t *testing.T) gittest.Repository {
	t.Helper()
	return stubRepository(t, []stubRevision{
		{"base", "1e5", "ok", "Sender"}, {"slower", "1.2e5", "ok", "Sender Issuer"}, {"failing", "1e5", "failed", "Sender"},
	})
}

// stubRevision is a stub with its tag, which is its subject too.
type stubRevision struct{ name, latency, status, known string }

// stubRepository makes a repository of any stubs and enters it.
func stubRepository(t *testing.T, revisions []stubRevision) gittest.Repository {
	t.Helper()
	r := gittest.New(t)
	r.Write(t, map[string]string{"go.mod": "module tiny\n\ngo 1.26\n"})
	for _, rev := range revisions {
		text := strings.NewReplacer("LATENCY", rev.latency, "STATUS", rev.status, "KNOWN", rev.known).Replace(stub)
		r.Commit(t, rev.name, map[string]string{"cmd/zkbench/main.go": text})
	}
	t.Chdir(r.Dir)
	return r
}

// command runs zkbench and returns its output and exit code.
func command(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "zkbench", args...)
	var out, messages strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &messages
	must.Do(t, cmd.Start())
	code = clitest.ExitCode(t, cmd)
	return out.String(), messages.String(), code
}

// clean fails the test if a comparison left a worktree or files.
func clean(t *testing.T, r gittest.Repository, temp string) {
	t.Helper()
	golden.Equal(t, "worktrees", 1, r.Worktrees(t))
	golden.Equal(t, "left behind", nil, must.Get(filepath.Glob(filepath.Join(temp, "zkbench-*")))(t))
}

// TestCompareGit builds two stubs and compares them, and compares the records
// that it wrote once more.
func TestCompareGit(t *testing.T) {
	testsize.Full(t)
	repo := stubs(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	out, messages, code := command(t, "compare", "--git", "base..slower", "sender", "--bits", "8", "--processes", "8",
		"--gate", "3%", "--out", "session.jsonl", "--keep", "kept")
	if code != ExitFailed || !strings.Contains(out, "slower, beyond the gate") {
		t.Fatalf("exit code %d\n%s%s", code, out, messages)
	}
	golden.Contains(t, out, "old: base ", "new: slower ", ", 8 processes", "versions: commit: ", "Sender/bits=8\n")
	golden.Contains(t, messages, "building base ", "building slower ", "1/1: 24 processes of Sender, 1 worker, ", "lets pass: Sender/bits=8 latency-mean +")
	sides := make(map[string]int)
	for _, rec := range recordtest.ReadFile(t, "session.jsonl") {
		if rec.Process.Index != sides[rec.Process.Side] || rec.Process.Session == "" || len(rec.Env.Commit) != 40 {
			t.Errorf("record %+v of commit %q", rec.Process, rec.Env.Commit)
		}
		sides[rec.Process.Side]++
	}
	golden.Equal(t, "processes by side", map[string]int{"old": 8, "new": 8, "again": 8}, sides)
	again, _, code := command(t, "compare", "session.jsonl")
	if _, rows, _ := strings.Cut(out, "metric"); code != ExitOK || !strings.Contains(again, strings.Split(rows, ", beyond")[0]) {
		t.Errorf("exit code %d; the records give another table:\n%s", code, again)
	}
	golden.Equal(t, "files kept", 3, len(must.Get(os.ReadDir("kept"))(t)))
	clean(t, repo, temp)
}

// TestCompareGitRefuses: what cannot be compared is one line and no table.
func TestCompareGitRefuses(t *testing.T) {
	testsize.Full(t)
	repo := stubs(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"what=revision", []string{"base..none", "sender"}, ExitUsage, `git: "none" is not accepted; accepted: a revision of this repository, or WORK`},
		{"what=workload of one", []string{"base..slower", "issuer"}, ExitUsage, "base "},
		{"what=failing case", []string{"base..failing", "sender", "--processes", "1"}, ExitFailed, "process new[0] of Sender/bits=32 failed twice: on purpose"},
		{"what=gate of few", []string{"base..slower", "sender", "--processes", "2", "--gate", "3%", "--budget", "0s"}, ExitPartial, "could not have seen 3 %: Sender/bits=32 latency-mean (2 pairs of processes, 8 needed)"},
		{"what=gate of few, which are made more", []string{"base..slower", "sender", "--processes", "2", "--gate", "3%"}, ExitFailed, "worse than the gate of 3 % lets pass: Sender/bits=32 latency-mean +20.0 %"},
		{"what=gate of few, let pass", []string{"base..slower", "sender", "--processes", "2", "--gate", "3%", "--budget", "0s", "--allow-blind"}, ExitOK, "1/1: 6 processes"},
		{"what=gate of a metric that is none", []string{"base..slower", "sender", "--processes", "1", "--gate", "3%", "--gate-metrics", "latency-p98", "--budget", "0s"}, ExitUsage, `gate-metrics: "latency-p98" is not accepted; accepted: latency-mean`},
		{"what=out", []string{"base..slower", "sender", "--out", "no/such/file"}, ExitUsage, "out: "},
		{"what=keep", []string{"base..slower", "sender", "--keep", "go.mod"}, ExitUsage, "keep: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, messages, code := command(t, append([]string{"compare", "--git"}, test.args...)...)
			lines := strings.Split(strings.TrimSpace(messages), "\n")
			if last := lines[len(lines)-1]; code != test.code || !strings.Contains(last, test.want) {
				t.Errorf("exit code %d, want %d; last line %q, want %q", code, test.code, last, test.want)
			}
			golden.Equal(t, "a table is written", out != "", strings.Contains(test.name, "gate"))
			if n := strings.Count(messages, "zkbench: "); n > 1 {
				t.Errorf("%d errors:\n%s", n, messages)
			}
		})
	}
	clean(t, repo, temp)
}

// TestCompareGitInterrupt stops the seventh process: what was measured is shown,
// marked as partial, and nothing is left behind.
func TestCompareGitInterrupt(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt to send")
	}
	repo := stubs(t)
	temp := t.TempDir()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	cmd := exec.CommandContext(t.Context(), "zkbench", "compare", "--git", "base..slower", "sender", "--processes", "8", "--gate", "3%")
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "STUB_ADDRESS="+listener.Addr().String(), "STUB_DIR="+t.TempDir())
	var out, messages strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &messages
	must.Do(t, cmd.Start())
	conn := must.Get(listener.Accept())(t)
	defer conn.Close()
	must.Do(t, cmd.Process.Signal(os.Interrupt))
	golden.Equal(t, "exit code", ExitPartial, clitest.ExitCode(t, cmd))
	if !strings.Contains(out.String(), "PARTIAL: interrupted: 6 of 24 processes measured\n") ||
		!strings.Contains(out.String(), "? (2 pairs of processes, 8 needed)") {
		t.Errorf("table:\n%s", &out)
	}
	if !strings.HasSuffix(messages.String(), "zkbench: interrupted: 6 of 24 processes measured\n") {
		t.Errorf("messages:\n%s", &messages)
	}
	clean(t, repo, temp)
}
