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
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/env"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/internal/usage"
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

// served tells the number of the process that ran a job, unless that says otherwise.
func served(ctx context.Context, job measure.Job) *record.Record {
	rec := job.Settings.New(job.Workload, job.Case)
	switch job.Workload {
	case "Exit":
		fmt.Fprintln(os.Stderr, "gone on purpose")
		os.Exit(7)
	case "Hang":
		<-ctx.Done()
		rec.Status = record.Partial
	}
	rec.Seed = uint64(os.Getpid())
	return rec
}

func job(name string) measure.Job {
	return measure.Job{
		Workload: name, Case: workload.NewCase(record.Axis{Key: "bits", Value: "8"}),
		Settings: measure.Settings{Config: runner.Config{Workers: 1, Seed: 5}}, Deadline: time.Minute,
	}
}

// fakeSSH puts a program ssh into the PATH that does what script says, with the command for
// the host in $1, and returns the folder of the host's user. Without a script it runs the
// command.
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
	return home
}

func newHost(t *testing.T) *Host {
	t.Helper()
	p := must.Get(NewProgram(must.Get(os.Executable())(t), serveArg))(t)
	h := &Host{Name: "b", Program: p}
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
	} {
		got, err := Parse(list)
		golden.Equal(t, list, want, got)
		if wrong, ok := errors.AsType[*usage.ValueError](err); ok == (want != nil) || ok && wrong.Field != "on" {
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
	p := &Program{path: "/x/a b; $(c)", digest: "d", size: 3}
	golden.Equal(t, "end of the command", `zkbench d 3 'a b; $(c)'`, p.command()[strings.LastIndex(p.command(), "zkbench d"):])
}

// TestHost: the program is copied once, runs all jobs of a connection, and is gone when that
// ends.
func TestHost(t *testing.T) {
	home := fakeSSH(t, `echo "Welcome to this host"; printf "and no end of line"; exec sh -c "exec $1"`)
	copies := 0
	var seeds []uint64
	for range 2 {
		h := newHost(t)
		h.Copied = func() { copies++ }
		e := must.Get(h.Connect(t.Context()))(t)
		golden.Equal(t, "host of its environment", "b", e.Host)
		golden.Equal(t, "differences from here, but for the host", []string{"host: b / not told"}, env.AllDifferences(e, env.Read()))
		for range 2 {
			rec := must.Get(h.Measure(t.Context(), job("Some")))(t)
			golden.Equal(t, "host of its record", "b", rec.Env.Host)
			seeds = append(seeds, rec.Seed)
		}
		h.Close()
		if err := exec.Command("kill", "-0", fmt.Sprint(seeds[len(seeds)-1])).Run(); err == nil {
			t.Error("the program runs when its connection has ended")
		}
	}
	golden.Equal(t, "copies", 1, copies)
	if seeds[0] != seeds[1] || seeds[1] == seeds[2] || seeds[2] != seeds[3] {
		t.Errorf("processes %v, want two that run two jobs each", seeds)
	}
	golden.Equal(t, "files in the cache", 1, len(must.Get(filepath.Glob(filepath.Join(home, "zkbench", "*", "*")))(t)))

	// A copy that was changed, or cut off, is made anew.
	copied := must.Get(filepath.Glob(filepath.Join(home, "zkbench", "*", "*")))(t)[0]
	must.Do(t, os.Truncate(copied, 1000))
	h := newHost(t)
	h.Copied = func() { copies++ }
	must.Get(h.Connect(t.Context()))(t)
	golden.Equal(t, "copies", 2, copies)
}

// TestCopyTwice: hosts of one user that are connected at once do each other no harm.
func TestCopyTwice(t *testing.T) {
	testsize.Full(t)
	home := fakeSSH(t, "")
	var wg sync.WaitGroup
	for range 4 {
		h := newHost(t)
		wg.Go(func() {
			if _, err := h.Connect(t.Context()); err != nil {
				t.Error(err)
			}
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
		"another system":  {"", "it is of Plan9 on Plan9", [2]string{"uname", "echo Plan9"}},
		"another machine": {"", "it is of " + uname1 + " on vax", [2]string{"uname", `test $1 = -m && echo vax || echo ` + uname1}},
		"no folder":       {"", "mkdir: no space", [2]string{"mkdir", "echo mkdir: no space >&2; exit 1"}},
		"disk full":       {"", "head: no space", [2]string{"head", "echo head: no space >&2; exit 1"}},
		"cut off":         {"", "what was copied has another SHA-256 than the program had", [2]string{"head", "echo"}},
		"cannot run":      {"", "ermission denied", [2]string{"chmod", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			home := fakeSSH(t, test.ssh)
			if test.fakes[0] != "" {
				bin := t.TempDir()
				must.Do(t, os.WriteFile(filepath.Join(bin, test.fakes[0]), []byte("#!/bin/sh\n"+test.fakes[1]+"\n"), 0o755))
				t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
			}
			_, err := newHost(t).Connect(t.Context())
			wrong, ok := errors.AsType[*usage.ValueError](err)
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
	first := must.Get(h.Measure(t.Context(), job("Some")))(t)
	must.Do(t, h.link.ssh.Process.Kill())
	again := must.Get(h.Measure(t.Context(), job("Some")))(t)
	if first.Seed == again.Seed {
		t.Error("the connection is not lost")
	}
	_, err := h.Measure(t.Context(), job("Exit"))
	golden.Equal(t, "of a case that takes it away", "lost 3 times while it ran one case: gone on purpose", fmt.Sprint(err))
	down := filepath.Join(home, "down")
	must.Do(t, os.WriteFile(down, nil, 0o600))
	h.Close()
	_, err = h.Measure(t.Context(), job("Some"))
	golden.Equal(t, "of one that does not come back", "not back within 10ms: down", fmt.Sprint(err))
	h.Wait = time.Minute
	go func() {
		time.Sleep(50 * time.Millisecond)
		_ = os.Remove(down)
	}()
	must.Get(h.Measure(t.Context(), job("Some")))(t)

	h.Close()
	h.known.CPU = "another"
	_, err = h.Measure(t.Context(), job("Some"))
	must.Fail(t, err, zkbench.ErrEnv, "another machine")
	golden.Contains(t, err.Error(), "host b is not what it was: cpu: another / ")
}

// TestInterrupted: a case that runs ends with the context, and the program with it.
func TestInterrupted(t *testing.T) {
	fakeSSH(t, "")
	h := newHost(t)
	must.Get(h.Connect(t.Context()))(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if rec, err := h.Measure(ctx, job("Hang")); err == nil && rec.Status != record.Partial || err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", rec, err)
	}
	h.Close()
}

// TestServe: jobs come one a line, beats between them; what is no job ends it.
func TestServe(t *testing.T) {
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
	synctest.Test(t, func(t *testing.T) {
		in, us := io.Pipe()
		defer us.Close()
		done := make(chan error, 1)
		begin := time.Now()
		var out bytes.Buffer
		line := must.Get(json.Marshal(job("Hang")))(t)
		go func() { done <- Serve(t.Context(), in, &out, served) }()
		fmt.Fprintf(us, "%s\n", line)
		for range 10 {
			time.Sleep(beat)
			fmt.Fprintln(us)
		}
		must.Fail(t, <-done, zkbench.ErrEnv, "silence")
		golden.Equal(t, "after", 10*beat+lost, time.Since(begin))
		golden.Equal(t, "lines", 1, bytes.Count(out.Bytes(), []byte("\n")))
	})
}
