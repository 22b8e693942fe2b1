//go:build unix

package subprocess_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// The test binary is the program that is run. If this is its first argument, the second one says
// what to do.
const childArg = "child-test-program"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == childArg {
		os.Exit(program(os.Args[2]))
	}
	os.Exit(m.Run())
}

func program(what string) int {
	switch what {
	case "quiet":
	case "echo":
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			fmt.Println(in.Text())
		}
	case "say":
		fmt.Print("said")
	case "fail":
		fmt.Fprintln(os.Stderr, "\n# a/package\nthe reason\nand a trace")
		return 3
	case "flood":
		for {
			fmt.Println(strings.Repeat("all work and no play ", 1000))
		}
	case "eat": // 64 MiB and on
		var all [][]byte
		for {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
			time.Sleep(time.Millisecond)
			if len(all) == 1<<12 {
				return len(all)
			}
		}
	case "peak": // 96 MiB, for a while
		all := bytes.Repeat([]byte{1}, 96<<20)
		time.Sleep(300 * time.Millisecond)
		fmt.Print(len(all))
	case "write":
		file, err := os.CreateTemp(os.Args[3], "")
		for err == nil {
			_, err = file.Write(make([]byte, 1<<20))
			time.Sleep(time.Millisecond)
		}
	case "leave", "leave-session": // a child that holds the output open
		other := exec.Command(os.Args[0], childArg, "sleep")
		other.Stdout = os.Stdout
		if what == "leave-session" {
			other.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		}
		if other.Start() != nil {
			return 1
		}
		fmt.Print(other.Process.Pid)
	case "sleep":
		time.Sleep(time.Hour)
	case "spin": // 50 ms of a processor
		var used syscall.Rusage
		for syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil && used.Utime.Nano() < int64(60*time.Millisecond) {
		}
	}
	return 0
}

func command(args ...string) subprocess.Command {
	return subprocess.Command{Argv: append([]string{os.Args[0], childArg}, args...)}
}

func TestRun(t *testing.T) {
	out, use, err := subprocess.Run(t.Context(), command("say"))
	must.Do(t, err)
	golden.Equal(t, "output", "said", string(out))
	if use.Wall <= 0 || use.CPU() <= 0 || use.Left != 0 {
		t.Errorf("use %+v", use)
	}
	_, use, err = subprocess.Run(t.Context(), command("spin"))
	must.Do(t, err)
	if use.CPU() < 50*time.Millisecond || use.Wall < 50*time.Millisecond { // of several threads
		t.Errorf("60 ms of a processor: %+v", use)
	}
}

// TestPeak: the peak is that of the program, also where this process is greater.
func TestPeak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the kernel tells of others elsewhere")
	}
	_, use, err := subprocess.Run(t.Context(), command("peak"))
	must.Do(t, err)
	if use.PeakRSS < 64<<20 || use.PeakRSS > 200<<20 {
		t.Errorf("96 MiB and the runtime: peak %d", use.PeakRSS)
	}
	ballast := bytes.Repeat([]byte{1}, 300<<20)
	_, use, err = subprocess.Run(t.Context(), command("peak"))
	must.Do(t, err)
	if use.PeakRSS < 64<<20 || use.PeakRSS > 200<<20 {
		t.Errorf("beside a process of 300 MiB: peak %d", use.PeakRSS)
	}
	runtime.KeepAlive(ballast)
}

func TestErrors(t *testing.T) {
	_, _, err := subprocess.Run(t.Context(), command("fail"))
	exit, ok := errors.AsType[*subprocess.ExitError](err)
	if !ok || exit.State != "exit status 3" || exit.Message != "the reason" {
		t.Errorf("error %v", err)
	}
	for _, argv := range [][]string{nil, {"no such program"}, {"/nowhere/program"}, {os.TempDir()}} {
		_, _, err := subprocess.Run(t.Context(), subprocess.Command{Argv: argv})
		must.Fail(t, err, zkbench.ErrParams, "command")
	}
	missing := command("say")
	missing.Dir = "/nowhere"
	_, _, err = subprocess.Run(t.Context(), missing)
	must.Fail(t, err, zkbench.ErrParams, "directory")
	golden.Contains(t, err.Error(), `"/nowhere" is not accepted; accepted: a directory that exists`)
}

// TestLimits: who floods, eats memory or fills the disk is ended, and the error says of what.
func TestLimits(t *testing.T) {
	flood := command("flood")
	flood.Limit.Output = 1 << 20
	out, _, err := subprocess.Run(t.Context(), flood)
	must.Fail(t, err, zkbench.ErrLimit, "bytes on standard output")
	golden.Within(t, "kept", 1, len(out), 1<<20)
	if runtime.GOOS != "linux" {
		return
	}
	eat := command("eat")
	eat.Limit.Memory = 128 << 20
	_, use, err := subprocess.Run(t.Context(), eat)
	must.Fail(t, err, zkbench.ErrLimit, "bytes of memory")
	if use.PeakRSS < 100<<20 || use.PeakRSS > 1<<30 {
		t.Errorf("peak %d at a limit of 128 MiB", use.PeakRSS)
	}
	write := command("write", t.TempDir())
	write.Limit.Written = 32 << 20
	_, _, err = subprocess.Run(t.Context(), write)
	must.Fail(t, err, zkbench.ErrLimit, "bytes written")
}

// TestLeft: what a program leaves behind is told and ended, also what has left its process group.
func TestLeft(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only what is in the process group is known elsewhere")
	}
	for _, how := range []string{"leave", "leave-session"} {
		out, use, err := subprocess.Run(t.Context(), command(how))
		must.Do(t, err)
		if use.Wall > 900*time.Millisecond {
			t.Errorf("%s: %v, with the wait for what holds the output", how, use.Wall)
		}
		swept := subprocess.Sweep() // what had no control group
		if use.Left+swept < 1 {
			t.Errorf("%s: %+v, swept %d", how, use, swept)
		}
		var pid int
		must.Get(fmt.Sscan(string(out), &pid))(t)
		if alive(pid) {
			t.Errorf("%s: process %d lives", how, pid)
		}
	}
}

// TestKilled: when the context ends, so does the program with all that it started.
func TestKilled(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("no more time"))
	defer cancel()
	begin := time.Now()
	_, _, err := subprocess.Run(ctx, command("sleep"))
	if err == nil || err.Error() != "no more time" || time.Since(begin) > 5*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

// TestResident: a program that goes on answering.
func TestResident(t *testing.T) {
	p := must.Get(subprocess.Start(t.Context(), command("echo")))(t)
	answers := bufio.NewScanner(p.Stdout)
	for _, word := range []string{"one", "two"} {
		fmt.Fprintln(p.Stdin, word)
		if !answers.Scan() || answers.Text() != word {
			t.Fatalf("answer %q, want %q", answers.Text(), word)
		}
	}
	if runtime.GOOS == "linux" && p.Look().Resident == 0 {
		t.Error("nothing resident")
	}
	must.Do(t, p.Stdin.Close())
	if answers.Scan() {
		t.Error("an answer to nothing")
	}
	must.Get(p.Wait(t.Context()))(t)
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// BenchmarkRun is a program that does nothing: what it costs to run one, and of that what comes on
// top of os/exec.
func BenchmarkRun(b *testing.B) {
	b.Run("child", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := subprocess.Run(b.Context(), subprocess.Command{Argv: []string{"/bin/true"}}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.CommandContext(b.Context(), "/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
