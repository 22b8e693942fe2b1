package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
)

// The test binary is what hosts run: with this argument it serves jobs.
const serveArg = "hosts-test-serve"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveArg {
		if err := Serve(context.Background(), os.Stdin, os.Stdout, served); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// served returns a record whose error is the number of the process that ran the job. Some workloads
// do something else, as their names say.
func served(ctx context.Context, job measure.Job) (*record.Record, error) {
	rec := job.Settings.New(job.Workload, job.Case)
	switch job.Workload {
	case "Exit":
		fmt.Fprintln(os.Stderr, "gone on purpose")
		os.Exit(7)
	case "Hang":
		<-ctx.Done()
		rec.Status = record.Partial
	case "Elsewhere":
		rec.Env.CPU = "another"
	case "Unstarted":
		return nil, errors.New("no room\x1b[2J for it")
	}
	rec.Error = strconv.Itoa(os.Getpid())
	return rec, nil
}

// unheard ignores what a host reports.
func unheard(string) {}

func job(name string) measure.Job {
	return measure.Job{
		Workload: name, Case: workload.NewCase(record.Axis{Key: "bits", Value: "8"}),
		Settings: measure.Settings{Config: runner.Config{Workers: 1, Seed: 5}}, Deadline: time.Minute,
	}
}

// fakeSSH puts a program ssh into the PATH that runs script, with the command for the host in $1,
// and returns the home directory of the host's user. Without a script it runs the command.
func fakeSSH(t *testing.T, script string) (home string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("ssh is a shell script here")
	}
	bin, home := t.TempDir(), t.TempDir()
	if script == "" {
		script = `exec sh -c "exec $1"`
	}
	text := "#!/bin/sh\nwhile test $# -gt 1; do shift; done\n" + script + "\n"
	must.Do(t, os.WriteFile(filepath.Join(bin, "ssh"), []byte(text), 0o755))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("TMPDIR", t.TempDir())
	return home
}

func newHost(t *testing.T) *Host {
	t.Helper()
	self := must.Get(os.Executable())(t)
	h := &Host{Name: "b", Program: must.Get(NewProgram(self, filepath.Base(self), serveArg))(t)}
	t.Cleanup(h.Close)
	return h
}

func TestParse(t *testing.T) {
	for list, want := range map[string][]string{
		"a":                               {"a"},
		"a, me@b:22,ssh://me@c:2222,d.e_": {"a", "me@b:22", "ssh://me@c:2222", "d.e_"},
		"::1":                             nil,
		"[::1]:22":                        {"[::1]:22"},
		"":                                nil,
		"a,":                              nil,
		"a,b,a":                           nil,
		"-oProxyCommand=x":                nil,
		"a b":                             nil,
		"$(id)":                           nil,
		"a;b":                             nil,
		"me@-oProxyCommand=x":             nil,
		"[-x]":                            nil,
		"ssh://-x":                        nil,
		"[fe80::1%eth0]":                  {"[fe80::1%eth0]"},
		"fe80::1":                         {"fe80::1"},
	} {
		got, err := Parse(list)
		golden.Equal(t, list, want, got)
		if wrong, ok := errors.AsType[*argument.ValueError](err); ok == (want != nil) || ok && wrong.Field != "on" {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestDestination(t *testing.T) {
	for host, want := range map[string]string{
		"a": "-- a", "me@a": "-- me@a", "a:22": "-p 22 -- a", "me@a:22": "-p 22 -- me@a", "ssh://me@a:22": "-- ssh://me@a:22",
		"fe80::1": "-- fe80::1", "[::1]:22": "-p 22 -- ::1", "me@[::1]:22": "-p 22 -- me@::1", "a:b": "-- a:b", "a:99999": "-- a:99999",
	} {
		golden.Equal(t, host, want, strings.Join(destination(host), " "))
	}
}

// TestScript: the script is one word of every login shell, and what is put into it stays one.
func TestScript(t *testing.T) {
	if i := strings.IndexAny(script, "'\\!\n"); i >= 0 {
		t.Errorf("the script has %q, which login shells read in different ways", script[i])
	}
	p := &Program{name: "a b; $(c)", digest: "d", size: 3}
	without := exec.Command("/bin/sh", "-c", script, "zkbench", "d", "3", "x")
	without.Env = []string{"PATH=/nowhere"}
	out, err := without.CombinedOutput()
	golden.Equal(t, "of a host without digests", "neither sha256sum nor shasum is installed\nexit status 1", fmt.Sprintf("%s%v", out, err))
	golden.Equal(t, "end of the command", `zkbench d 3 'a b; $(c)'`, p.command()[strings.LastIndex(p.command(), "zkbench d"):])
}

// TestHost: the program is copied once, runs all jobs of a connection, and is gone when that
// ends.
func TestHost(t *testing.T) {
	home := fakeSSH(t, `echo "Welcome to this host"; printf "and no end of line"; exec sh -c "exec $1"`)
	copies := 0
	connect := func(h *Host) record.Env {
		t.Helper()
		e, copied, err := h.Connect(t.Context())
		must.Do(t, err)
		if copied {
			copies++
		}
		return e
	}
	var processes []string
	for range 2 {
		h := newHost(t)
		e := connect(h)
		golden.Equal(t, "host of its environment", "b", e.Host)
		golden.Equal(t, "differences from here, but for the host", []string{"host: b / unknown"}, env.AllDifferences(e, env.Read()))
		for range 2 {
			rec := must.Get(h.Measure(t.Context(), job("Some"), unheard))(t)
			golden.Equal(t, "host of its record", "b", rec.Env.Host)
			processes = append(processes, rec.Error)
		}
		h.Close()
		if err := exec.Command("kill", "-0", processes[len(processes)-1]).Run(); err == nil {
			t.Error("the program runs when its connection has ended")
		}
	}
	golden.Equal(t, "copies", 1, copies)
	if processes[0] != processes[1] || processes[1] == processes[2] || processes[2] != processes[3] {
		t.Errorf("processes %v, want two that run two jobs each", processes)
	}
	golden.Equal(t, "files in the cache", 1, len(must.Get(filepath.Glob(filepath.Join(home, "zkbench", "*", "*")))(t)))

	// A copy that was changed, or cut off, is made anew.
	copied := must.Get(filepath.Glob(filepath.Join(home, "zkbench", "*", "*")))(t)[0]
	for path, mode := range map[string]os.FileMode{copied: 0o700, filepath.Dir(copied): os.ModeDir | 0o700} {
		golden.Equal(t, "mode of "+path, mode, must.Get(os.Stat(path))(t).Mode())
	}
	must.Do(t, os.Truncate(copied, 1000))
	connect(newHost(t))
	golden.Equal(t, "copies", 2, copies)
}

// TestCopiedMeanwhile: a copy that has come to its place meanwhile, and may run, stays there.
func TestCopiedMeanwhile(t *testing.T) {
	home := fakeSSH(t, "")
	h := newHost(t)
	place := filepath.Join(home, "zkbench", h.Program.digest, h.Program.name)
	real := must.Get(exec.LookPath("mktemp"))(t)
	bin := t.TempDir()
	fake := fmt.Sprintf("#!/bin/sh\ncp %s %s\ntouch -t 200001010000 %s\nexec %s \"$@\"\n", must.Get(os.Executable())(t), place, place, real)
	must.Do(t, os.WriteFile(filepath.Join(bin, "mktemp"), []byte(fake), 0o755))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	_, copied, err := h.Connect(t.Context())
	must.Do(t, err)
	golden.Equal(t, "copied", true, copied)
	golden.Equal(t, "year of the copy in its place", 2000, must.Get(os.Stat(place))(t).ModTime().Year())
}

// TestSendsNoMore: of a file that has grown no more is sent than was said, since what follows is
// taken for a job.
func TestSendsNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	must.Do(t, os.WriteFile(path, []byte("program"), 0o600))
	p := must.Get(NewProgram(path, "program"))(t)
	must.Do(t, os.WriteFile(path, []byte("program and more"), 0o600))
	var sent bytes.Buffer
	must.Do(t, p.send(&sent))
	golden.Equal(t, "sent", "program", sent.String())
}

// TestSSHArguments: ssh asks nothing, forwards nothing, shares no connection that it would leave, and
// sees that the other machine is gone.
func TestSSHArguments(t *testing.T) {
	golden.Equal(t, "arguments", []string{
		"-T", "-a", "-x", "-o", "ClearAllForwardings=yes", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "ControlMaster=no",
		"-o", "RemoteCommand=none", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3",
		"-p", "22", "--", "me@b", "the command",
	}, sshArgs("me@b:22", "the command"))
}

// TestOneSuite: of two that would measure on a machine one waits, and is refused where the other goes
// on.
func TestOneSuite(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		unlock := must.Get(lockMachine(t.Context(), takeover))(t)
		begin := time.Now()
		err := Serve(t.Context(), strings.NewReader(""), io.Discard, served)
		must.Fail(t, err, zkbench.ErrEnv, "a second one")
		golden.Contains(t, err.Error(), "another suite measures on this machine")
		if waited := time.Since(begin); waited < takeover || waited > takeover+time.Second {
			t.Errorf("it has waited for %v", waited)
		}
		time.AfterFunc(takeover/2, unlock)
		must.Do(t, Serve(t.Context(), strings.NewReader(""), io.Discard, served))
	})
}

// TestCopyTwice: hosts of one user that are connected at once do each other no harm.
func TestCopyTwice(t *testing.T) {
	testsize.Full(t)
	home := fakeSSH(t, "")
	var wg sync.WaitGroup
	for range 4 {
		h := newHost(t)
		wg.Go(func() {
			if _, _, err := h.Connect(t.Context()); err != nil {
				t.Error(err)
			}
			h.Close() // the next one waits for it
		})
	}
	wg.Wait()
	all := must.Get(os.ReadDir(must.Get(filepath.Glob(filepath.Join(home, "zkbench", "*")))(t)[0]))(t)
	golden.Equal(t, "files of the program, none that is half of it", 1, len(all))
}

// TestRefused: what keeps a host from being used is told in one line, with its name.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		ssh, why string
		fakes    [2]string // a program of the host, and what it does in place of its own
	}{
		"ssh says no":     {`echo "a warning" >&2; echo "ssh: connect to host b port 22: Connection refused" >&2; exit 255`, "ssh: connect to host b port 22: Connection refused", [2]string{}},
		"a banner":        {`echo; echo "This account is not available"`, `it prints "This account is not available" and no more`, [2]string{}},
		"no word":         {`exit 3`, "it ended the connection: exit status 3", [2]string{}},
		"endless noise":   {`exec yes`, "it prints more than it should", [2]string{}},
		"another system":  {"", "it runs Plan9 on Plan9", [2]string{"uname", "echo Plan9"}},
		"another machine": {"", "it runs " + uname1 + " on vax", [2]string{"uname", `test $1 = -m && echo vax || echo ` + uname1}},
		"no folder":       {"", "mkdir: no space", [2]string{"mkdir", "echo mkdir: no space >&2; exit 1"}},
		"disk full":       {"", "head: no space", [2]string{"head", "echo head: no space >&2; exit 1"}},
		"cut off":         {"", "the copy has another SHA-256 than the program", [2]string{"head", "echo"}},
		"cannot run":      {"", "ermission denied", [2]string{"chmod", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			home := fakeSSH(t, test.ssh)
			if test.fakes[0] != "" {
				bin := t.TempDir()
				must.Do(t, os.WriteFile(filepath.Join(bin, test.fakes[0]), []byte("#!/bin/sh\n"+test.fakes[1]+"\n"), 0o755))
				t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
			}
			_, _, err := newHost(t).Connect(t.Context())
			wrong, ok := errors.AsType[*argument.ValueError](err)
			if !ok || wrong.Field != "on" || wrong.Value != "b" || !strings.HasSuffix(wrong.Accepted, test.why) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v; want one line that ends with %s", err, test.why)
			}
			left := must.Get(filepath.Glob(filepath.Join(home, "zkbench", "*", ".copy*")))(t)
			golden.Equal(t, "copies that are left", 0, len(left))
		})
	}
}

// uname1 is what uname -s prints here.
var uname1 = strings.ToUpper(runtime.GOOS[:1]) + runtime.GOOS[1:]

// TestLost: a host whose connection is lost is connected to again and gets the job again; one
// that does not come back, or goes away with every try of a case, is lost.
func TestLost(t *testing.T) {
	testsize.Full(t)
	home := fakeSSH(t, `test -e "$XDG_CACHE_HOME/down" && { echo "down" >&2; exit 255; }; exec sh -c "exec $1"`)
	h := newHost(t)
	h.Wait = 10 * time.Millisecond
	var said []string
	say := func(text string) { said = append(said, text) }
	first := must.Get(h.Measure(t.Context(), job("Some"), say))(t)
	h.link.kill()
	again := must.Get(h.Measure(t.Context(), job("Some"), say))(t)
	if first.Error == again.Error {
		t.Error("the connection is not lost")
	}
	if len(said) != 2 || said[0] != Copied || !strings.HasPrefix(said[1], "lost: ") {
		t.Errorf("said of it: %q", said)
	}
	_, err := h.Measure(t.Context(), job("Unstarted"), unheard)
	golden.Equal(t, "of a case that is not started", "lost 3 times while it ran one case: no room[2J for it", fmt.Sprint(err))
	_, err = h.Measure(t.Context(), job("Elsewhere"), unheard)
	must.Fail(t, err, zkbench.ErrEnv, "a record of another machine")
	_, err = h.Measure(t.Context(), job("Exit"), unheard)
	golden.Equal(t, "of a case that takes it away", "lost 3 times while it ran one case: gone on purpose", fmt.Sprint(err))
	down := filepath.Join(home, "down")
	must.Do(t, os.WriteFile(down, nil, 0o600))
	h.Close()
	_, err = h.Measure(t.Context(), job("Some"), unheard)
	golden.Equal(t, "of one that does not come back", "not back within 10ms: down", fmt.Sprint(err))
	h.Wait = time.Minute
	go func() {
		time.Sleep(50 * time.Millisecond)
		_ = os.Remove(down)
	}()
	must.Get(h.Measure(t.Context(), job("Some"), unheard))(t)

	h.Close()
	h.known.CPU = "another"
	_, err = h.Measure(t.Context(), job("Some"), unheard)
	must.Fail(t, err, zkbench.ErrEnv, "another machine")
	golden.Contains(t, err.Error(), "host b has changed: cpu: another / ")
}

// TestInterrupted: a case that runs ends with the context, and the program with it.
func TestInterrupted(t *testing.T) {
	fakeSSH(t, "")
	h := newHost(t)
	_, _, err := h.Connect(t.Context())
	must.Do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if rec, err := h.Measure(ctx, job("Hang"), unheard); err == nil && rec.Status != record.Partial || err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", rec, err)
	}
	h.Close()
}

// TestServe: jobs come one a line, beats between them; what is no job ends it.
func TestServe(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	in, us := io.Pipe()
	them, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(t.Context(), in, out, served) }()
	greets := make([]byte, len(greeting))
	must.Get(io.ReadFull(them, greets))(t)
	golden.Equal(t, "greeting", greeting, string(greets))
	go func() { _, _ = io.Copy(io.Discard, them) }()
	fmt.Fprint(us, "\n\nno job\n")
	must.Fail(t, <-done, zkbench.ErrMalformed, "no job")
}

// TestSilence: nobody is served who was not heard of for a while; a case that runs ends, and
// leaves no record.
func TestSilence(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		in, us := io.Pipe()
		defer us.Close()
		done := make(chan error, 1)
		begin := time.Now()
		var out bytes.Buffer
		line := must.Get(json.Marshal(question{1, job("Hang")}))(t)
		go func() { done <- Serve(t.Context(), in, &out, served) }()
		fmt.Fprintf(us, "%s\n", line)
		for range 10 {
			time.Sleep(beatInterval)
			fmt.Fprintln(us)
		}
		must.Fail(t, <-done, zkbench.ErrEnv, "silence")
		golden.Equal(t, "after", 10*beatInterval+silenceLimit, time.Since(begin))
		synctest.Wait()
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		golden.Equal(t, "beats", slices.Repeat([]string{greeting}, len(lines)-1), lines[1:])
		if len(lines) < 12 || len(lines) > 14 { // the last ones may come at the same moment as the end
			t.Errorf("%d lines", len(lines))
		}
	})
}
