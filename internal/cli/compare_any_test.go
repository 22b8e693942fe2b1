package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/gittest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// plantedBenchmark allocates ALLOCS times, finds a file beside it, and says that it takes TIME. With a size below 0 it
// ends the process.
const plantedBenchmark = `package pkg

import (
	"flag"
	"os"
	"testing"
)

var (
	size = flag.Int("size", 32, "")
	sink []byte
)

func BenchmarkPlanted(b *testing.B) {
	if _, err := os.Stat("beside.txt"); err != nil {
		b.Fatal(err)
	}
	if fifo := os.Getenv("STUB_FIFO"); fifo != "" {
		STOP
	}
	if *size < 0 { // not in this goroutine: after its panic, the process can end with exit code 0
		go panic(size)
		select {}
	}
	for b.Loop() {
		for range ALLOCS {
			sink = make([]byte, *size)
		}
	}
	b.ReportMetric(TIME, "ns/op")
}
`

// plantedScript takes STEPS steps and needs what the build has made. If the test asks for it, it
// hangs in its tenth run; three of its runs are not measured.
const plantedScript = `#!/bin/sh
set -e
cat made.txt
if [ -n "$STUB_FIFO" ]; then
	n=$(ls "$STUB_DIR" | wc -l)
	touch "$STUB_DIR/$n"
	if [ "$n" -ge 9 ]; then
		sleep 600 &
		echo $$ $! >"$STUB_FIFO"
		wait
	fi
fi
echo "Unit steps assume=exact"
echo "BenchmarkScript 1 STEPS steps"
`

// anyRepository makes a repository with a module below its root and enters the module. Its
// revisions are base, same, grown (its exact figures), broken (does not build) and lost (without
// the benchmark).
func anyRepository(t *testing.T) gittest.Repository {
	t.Helper()
	r := gittest.New(t)
	revision := func(name, allocs, time string) {
		t.Helper()
		stop := `os.WriteFile(fifo, fmt.Append(nil, os.Getpid(), os.Getpid()), 0); select {}`
		text := strings.NewReplacer("ALLOCS", allocs, "TIME", time, "STOP", strings.ReplaceAll(stop, "; ", "\n")).Replace(plantedBenchmark)
		r.Commit(t, name, map[string]string{
			"sub/pkg/planted_test.go": strings.Replace(text, `"flag"`, "\"flag\"\n\"fmt\"", 1),
			"sub/work.sh":             strings.ReplaceAll(plantedScript, "STEPS", allocs+"00"),
		})
	}
	r.Write(t, map[string]string{
		"sub/go.mod":                "module others\n\ngo 1.26\n",
		"sub/pkg/beside.txt":        "",
		"sub/empty/none_test.go":    "package empty\n\nimport \"testing\"\n\nfunc TestNothing(*testing.T) {}\n",
		"sub/other/planted_test.go": "package other\n\nimport \"testing\"\n\nfunc BenchmarkOther(b *testing.B) { b.ReportMetric(7, \"ns/op\") }\n",
		"sub/testdata/hides/hides_test.go": "package hides\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n" +
			"func TestMain(m *testing.M) { m.Run(); os.Exit(0) }\n\nfunc BenchmarkHides(b *testing.B) { b.Fatal(\"on purpose\") }\n",
		"sub/testdata/exits/exits_test.go": "package exits\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc BenchmarkExits(b *testing.B) {\n\tgo os.Exit(0) // as the panic of plantedBenchmark\n\tselect {}\n}\n",
		"sub/make.sh":                      "#!/bin/sh\necho made >made.txt\n",
	})
	revision("base", "3", "1000")
	revision("same", "3", "1000")
	revision("grown", "4", "1200")
	revision("broken", "3, undefined", "1000")
	revision("again", "3", "1000")
	must.Do(t, os.RemoveAll(filepath.Join(r.Dir, "sub", "other")))
	r.Commit(t, "lost", nil)
	t.Chdir(filepath.Join(r.Dir, "sub"))
	return r
}

// TestCompareBench: benchmarks of packages of another repository, in the packages' directories:
// what is the same is equal, what grew trips the gate, and what is gone is no pass.
func TestCompareBench(t *testing.T) {
	testsize.Full(t)
	repo, temp := anyRepository(t), t.TempDir()
	t.Setenv("TMPDIR", temp)
	compare := func(revisions string, args ...string) (out, messages string, code int) {
		t.Helper()
		return command(t, append([]string{"compare", "--git", revisions, "--processes", "8", "--gate", "3%"}, args...)...)
	}
	out, messages, code := compare("base..same", "--bench", "./...", "--out", filepath.Join(temp, "session"), "--", "-benchtime", "1000x", "-bench=Planted")
	golden.Equal(t, "exit code of the same\n"+messages, ExitOK, code)
	golden.Contains(t, out, "Planted", " (others/pkg)\n", " 96.00 B/op ", " ns/op ")
	if !regexp.MustCompile(`(?m)^ +allocs/op +3 allocs/op +3 allocs/op +0 % .* 8 +=$`).MatchString(out) {
		t.Errorf("no equal allocations in\n%s", out)
	}
	golden.Contains(t, messages, "building others/pkg, 2 of 2\n", "1/1: 24 processes of others/pkg\n")
	recs := recordtest.ReadFile(t, filepath.Join(temp, "session"))
	golden.Equal(t, "records", 24, len(recs))
	golden.Contains(t, recs[0].Output, "pkg: others/pkg\n", "BenchmarkPlanted")
	golden.Equal(t, "compiler", runtime.Version(), recs[0].Env.Go)
	again, messages, code := command(t, "compare", filepath.Join(temp, "session"), "--gate", "3%")
	rows, _, _ := strings.Cut(out, "\nold: ")
	if code != ExitOK || !strings.HasPrefix(again, rows) {
		t.Errorf("exit code %d; the records give another table:\n%s%s", code, again, messages)
	}

	out, messages, code = compare("base..grown", "--bench", "./pkg", "--", "-benchtime=1000x", "-size=16")
	golden.Equal(t, "exit code of what grew\n"+out, ExitFailed, code)
	golden.Contains(t, messages, "lets pass: Planted", "ns/op +20.0 %, allocs/op +33.3 %")
	golden.Contains(t, out, " 48.00 B/op ", " 64.00 B/op ")

	out, messages, code = compare("again..lost", "--bench", "./...", "--", "-benchtime=1000x")
	golden.Equal(t, "exit code of what is gone\n"+messages, ExitPartial, code)
	golden.Contains(t, out, "\nonly in old: Other", " (others/other)\n")
	golden.Contains(t, messages, "the new side lacks what the gate judges: only in old: Other")

	out, messages, code = compare("lost..again", "--bench", "./other,./pkg", "--", "-benchtime=1000x")
	golden.Equal(t, "exit code of what is new\n"+messages, ExitOK, code)
	golden.Contains(t, out, "\nonly in new: Other", "allocs/op")
	out, messages, code = compare("lost..again", "--bench", "./other")
	golden.Equal(t, "exit code where all is new\n"+messages, ExitOK, code)
	golden.Contains(t, out, "only in new: Other")
	golden.Contains(t, messages, "no packages ./other: lost ")
	must.Do(t, os.Remove(filepath.Join(temp, "session")))
	clean(t, repo, temp)
}

// TestCompareRun: a command that is built in each tree gives time, processor time, memory and
// its own figures.
func TestCompareRun(t *testing.T) {
	testsize.Full(t)
	repo, temp := anyRepository(t), t.TempDir()
	t.Setenv("TMPDIR", temp)
	out, messages, code := command(t, "compare", "--git", "base..same", "--build", "./make.sh", "--run", "'{dir}/sub/work.sh' x", "--processes", "8")
	golden.Equal(t, "exit code of the same\n"+messages, ExitOK, code)
	for _, row := range []string{"Script\n +steps +300 steps +300 steps +0 % .* 8 +=\n", "'{dir}/sub/work.sh' x\n +time ", "\n +cpu "} {
		if !regexp.MustCompile(row).MatchString(out) {
			t.Errorf("no %q in\n%s", row, out)
		}
	}
	golden.Equal(t, "builds\n"+messages, 3, strings.Count(messages, "building "))
	spaced, session := filepath.Join(temp, "of two words"), filepath.Join(t.TempDir(), "session")
	must.Do(t, os.Mkdir(spaced, 0o777))
	t.Setenv("TMPDIR", spaced)
	_, messages, code = command(t, "compare", "--git", "base..grown", "--shell", "--build", "echo >{dir}/sub/made.txt", "--run", "cat made.txt | ./work.sh", "--processes", "8", "--gate", "3%", "--budget", "0s", "--out", session)
	golden.Equal(t, "exit code of what grew\n"+messages, ExitFailed, code)
	golden.Contains(t, messages, "steps +33.3 %")
	for _, rec := range recordtest.ReadFile(t, session) {
		golden.Contains(t, rec.Output, map[string]string{"old": " 300 steps", "new": " 400 steps", "again": " 300 steps"}[rec.Process.Side])
	}
	clean(t, repo, spaced)
	must.Do(t, os.Remove(spaced))
	clean(t, repo, temp)
}

// TestCompareAnyRefuses: what cannot be measured is one line and no table.
func TestCompareAnyRefuses(t *testing.T) {
	testsize.Full(t)
	repo, temp := anyRepository(t), t.TempDir()
	t.Setenv("TMPDIR", temp)
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"what=workload of another module", []string{"base..same", "sender"}, ExitUsage, `program to build here: "tiny/cmd/zkbench" is not accepted; accepted: one `},
		{"what=package", []string{"base..same", "--bench", "./none"}, ExitUsage, "zkbench: unsuitable environment: same "},
		{"what=package without benchmarks", []string{"base..same", "--bench", "./empty"}, ExitUsage, `bench: "./empty" is not accepted; accepted: packages with benchmarks`},
		{"what=flags that choose none", []string{"base..same", "--bench", "./pkg", "--", "-bench=None"}, ExitUsage, `flags of --bench: "-bench=None" is not accepted`},
		{"what=flag of no test", []string{"base..same", "--bench", "./pkg", "--", "-tags=x"}, ExitUsage, `flag of others/pkg: "-tags" is not accepted; accepted: those of go test that its binaries take, and the package's own; those of the build in GOFLAGS`},
		{"what=benchmark that fails", []string{"base..same", "--bench", "./pkg", "--", "-size=-1"}, ExitFailed, "failed twice: exit status 2: panic: "},
		{"what=build of a test", []string{"base..broken", "--bench", "./pkg"}, ExitUsage, "does not build: others/pkg: "},
		{"what=command", []string{"base..same", "--run", "no-such-command"}, ExitUsage, `command: "no-such-command" is not accepted; accepted: a program in the PATH`},
		{"what=command of the tree", []string{"base..same", "--run", "./none.sh"}, ExitUsage, `command: "./none.sh" is not accepted`},
		{"what=build", []string{"base..same", "--build", "ls ./no-such-file", "--run", "./work.sh"}, ExitUsage, " does not build: exit status "},
		{"what=build in Go", []string{"broken..same", "--build", "go vet ./pkg", "--run", "./work.sh"}, ExitUsage, " does not build: exit status 1: pkg/planted_test.go:"},
		{"what=TestMain that hides a failure", []string{"base..same", "--bench", "./testdata/hides"}, ExitFailed, "failed twice: FAIL: BenchmarkHides "},
		{"what=benchmark that exits", []string{"base..same", "--bench", "./testdata/exits"}, ExitFailed, "failed twice: exit status 2: panic: unexpected call to os.Exit(0)"},
		{"what=no command", []string{"base..same", "--run", "''"}, ExitUsage, `run: "''" is not accepted; accepted: a program and its arguments`},
		{"what=run that fails", []string{"base..same", "--run", "./work.sh"}, ExitFailed, "[0] of ./work.sh failed twice: exit status 1: cat: made.txt: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, messages, code := command(t, append([]string{"compare", "--git"}, test.args...)...)
			lines := strings.Split(strings.TrimSpace(messages), "\n")
			if last := lines[len(lines)-1]; code != test.code || !strings.Contains(last, test.want) || strings.Contains(last, temp) {
				t.Errorf("exit code %d, want %d; last line %q, want %q", code, test.code, last, test.want)
			}
			golden.Equal(t, "table", "", out)
			golden.Equal(t, "errors\n"+messages, 1, strings.Count(messages, "zkbench: "))
		})
	}
	// What a file has from another time stays until there is something to take its place.
	kept, made := filepath.Join(t.TempDir(), "kept"), filepath.Join(t.TempDir(), "made")
	must.Do(t, os.WriteFile(kept, []byte("of another time"), 0o666))
	for _, path := range []string{kept, made} {
		_, _, code := command(t, "compare", "--git", "base..same", "--run", "no-such-command", "--out", path)
		golden.Equal(t, "exit code", ExitUsage, code)
	}
	golden.Equal(t, "what is kept", "of another time", string(must.Get(os.ReadFile(kept))(t)))
	must.FailGet(os.Stat(made))(t, os.ErrNotExist, "a file of no record")
	clean(t, repo, temp)
}

// TestCompareAnyFailsOnce: a run that fails is no secret, be it one that does not count or one
// that is run again: the table says so, and the exit code is 1.
func TestCompareAnyFailsOnce(t *testing.T) {
	testsize.Full(t)
	anyRepository(t)
	for call, want := range map[int]string{2: "which is not measured, failed: ", 6: "failed and was run again: exit status 1: out of memory"} {
		dir := t.TempDir()
		script := filepath.Join(dir, "flaky.sh")
		text := fmt.Sprintf("n=$(cat %[1]s/n 2>/dev/null || echo 0)\necho $((n+1)) >%[1]s/n\nif [ $n -eq %d ]; then echo 'out of memory' >&2; exit 1; fi\n", dir, call-1)
		must.Do(t, os.WriteFile(script, []byte(text), 0o600))
		out, messages, code := command(t, "compare", "--git", "base..same", "--run", "sh "+script, "--processes", "3")
		if code != ExitFailed || !strings.Contains(messages, want) || !strings.Contains(out, "PARTIAL: ") || !strings.Contains(out, want) {
			t.Errorf("call %d: exit code %d, want 1 and %q:\n%s%s", call, code, want, out, messages)
		}
	}
}

// TestCompareAnyInterrupt stops a process in the middle: what was measured until then is shown,
// and neither trees nor processes are left.
func TestCompareAnyInterrupt(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt to send")
	}
	repo := anyRepository(t)
	for _, test := range []struct {
		name string
		args []string
		says string
	}{
		{"by=run", []string{"--build", "./make.sh", "--run", "./work.sh"}, "interrupted: 6 of 24 processes measured\n"},
		{"by=bench", []string{"--bench", "./pkg", "--", "-benchtime=1000x"}, "interrupted before anything was measured\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			temp, fifo := t.TempDir(), filepath.Join(t.TempDir(), "fifo")
			must.Do(t, exec.Command("mkfifo", fifo).Run())
			cmd := exec.CommandContext(t.Context(), "zkbench", append([]string{"compare", "--git", "base..same", "--processes", "8"}, test.args...)...)
			cmd.Env = append(os.Environ(), "TMPDIR="+temp, "STUB_FIFO="+fifo, "STUB_DIR="+t.TempDir())
			var out, messages strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &messages
			must.Do(t, cmd.Start())
			var pids [2]int // once it hangs
			must.Get(fmt.Sscan(string(must.Get(os.ReadFile(fifo))(t)), &pids[0], &pids[1]))(t)
			must.Do(t, cmd.Process.Signal(os.Interrupt))
			golden.Equal(t, "exit code", ExitPartial, clitest.ExitCode(t, cmd))
			golden.Contains(t, messages.String(), "zkbench: "+test.says)
			for _, pid := range pids {
				if process, err := os.FindProcess(pid); err == nil && process.Signal(syscall.Signal(0)) == nil {
					t.Errorf("process %d lives", pid)
				}
			}
			clean(t, repo, temp)
		})
	}
}

// TestCompareClones: a shallow clone and missing submodules are named, with the command that helps.
func TestCompareClones(t *testing.T) {
	r := anyRepository(t)
	shallow := filepath.Join(t.TempDir(), "shallow")
	clone := exec.CommandContext(t.Context(), "git", "clone", "-q", "--depth", "1", "file://"+r.Dir, shallow)
	if out, err := clone.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Chdir(shallow)
	_, messages, code := command(t, "compare", "--git", "HEAD~1..HEAD", "--run", "true")
	golden.Equal(t, "exit code", ExitUsage, code)
	golden.Contains(t, messages, "this is a shallow clone, and git fetch --unshallow gets all revisions (actions/checkout: fetch-depth: 0)")

	r.Commit(t, "vendored", map[string]string{".gitmodules": "[submodule \"lib\"]\n\tpath = lib\n\turl = ./lib\n"})
	t.Chdir(filepath.Join(r.Dir, "sub"))
	_, messages, code = command(t, "compare", "--git", "base..vendored", "--build", "test -e ../lib/made", "--run", "true")
	golden.Equal(t, "exit code", ExitUsage, code)
	if strings.Contains(messages, "base does not build: exit status 1; ") {
		t.Errorf("base has no submodules: %s", messages)
	}
	_, messages, code = command(t, "compare", "--git", "vendored..vendored", "--build", "test -e ../lib/made", "--run", "true")
	golden.Equal(t, "exit code", ExitUsage, code)
	golden.Contains(t, messages, "vendored", "does not build: exit status 1; the revision has submodules, which its worktree lacks: with --bench or --run, --build 'git submodule update --init' gets them")
}

// TestCompareBuildsFirst: --build runs in each tree before the benchmarks are built.
func TestCompareBuildsFirst(t *testing.T) {
	testsize.Full(t)
	r := anyRepository(t)
	r.Commit(t, "generated", map[string]string{"sub/pkg/generated_test.go": "package pkg\n\nvar _ = generated\n"})
	_, messages, code := command(t, "compare", "--git", "generated..generated", "--bench", "./pkg", "--processes", "8", "--", "-benchtime=10x")
	golden.Equal(t, "exit code without", ExitUsage, code)
	golden.Contains(t, messages, "undefined: generated")
	out, messages, code := command(t, "compare", "--git", "generated..generated", "--build", "echo 'package pkg; const generated = 1' >pkg/made_test.go", "--shell", "--bench", "./pkg", "--processes", "8", "--", "-benchtime=10x")
	golden.Equal(t, "exit code\n"+messages, ExitOK, code)
	golden.Contains(t, out, "Planted")
}
