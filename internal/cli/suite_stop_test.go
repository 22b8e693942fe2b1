package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// TestSuiteInterrupted: an interrupt leaves the tables and the page of what has ended,
// and says how to go on.
func TestSuiteInterrupted(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt to send")
	}
	file, dir := tinyFile(t)
	d := newDoor(t)
	cmd, _, stderr := startSuite(t, d, file, "--out", dir, "--only", "issuer,slow")
	conn := must.Get(d.Accept())(t)
	defer conn.Close()
	// While it runs nobody else writes into its folder, and it is seen to run.
	other, _, otherErr := startSuite(t, d, "--resume", dir)
	if code := clitest.ExitCode(t, other); code != ExitUsage || !strings.Contains(otherErr.String(), "another suite runs in this folder") {
		t.Errorf("a second suite: exit code %d: %s", code, otherErr)
	}
	if s, err := suite.ReadStatus(dir); err != nil || s.Stopped || s.Done != 2 {
		t.Errorf("status %+v, error %v", s, err)
	}
	must.Do(t, cmd.Process.Signal(syscall.SIGINT))
	golden.Equal(t, "exit code", ExitPartial, clitest.ExitCode(t, cmd))
	want := "zkbench: interrupted: 2 of 6 processes measured; resume with: zkbench suite --resume " + dir + "\n"
	golden.Equal(t, "messages", want, stderr.String())
	if ids, _ := folderIDs(t, dir); len(ids) != 2 {
		t.Errorf("%d records, want 2", len(ids))
	}
	must.Get(os.Stat(filepath.Join(dir, suite.PageFile)))(t)
}

// TestSuiteFolderGone: a case that cannot be kept is told as not stored, and the suite
// stops there without making the folder anew.
func TestSuiteFolderGone(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS == "windows" {
		t.Skip("an open file is not removed there")
	}
	file, dir := tinyFile(t)
	d := newDoor(t)
	cmd, _, stderr := startSuite(t, d, file, "--out", dir, "--only", "slow")
	conn := must.Get(d.Accept())(t)
	away := dir + ".away"
	must.Do(t, os.Rename(dir, away))
	d.open()
	conn.Close()
	golden.Equal(t, "exit code", ExitFailed, clitest.ExitCode(t, cmd))
	if got := stderr.String(); !strings.Contains(got, "is not stored: ") || !strings.Contains(got, "resume with: zkbench suite --resume "+dir) || strings.Count(got, "\n") != 1 {
		t.Errorf("stderr: %s", got)
	}
	must.FailGet(os.Stat(dir))(t, os.ErrNotExist, "the folder that was gone is there again")
	// Where it is found again the suite goes on; bbolt has written the case to the file that
	// nobody could see.
	must.Do(t, os.Rename(away, dir))
	cmd, _, stderr = startSuite(t, d, "--resume", dir)
	if code := clitest.ExitCode(t, cmd); code != ExitOK {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if ids, _ := folderIDs(t, dir); len(ids) != 2 {
		t.Errorf("%d records, want 2", len(ids))
	}
}

// TestSuiteResumeRefused: a suite does not go on with a record that cannot be read, or on
// a machine or in a build that differs; what its folder has stays as it is.
func TestSuiteResumeRefused(t *testing.T) {
	testsize.Full(t)
	file, dir := tinyFile(t)
	d := newDoor(t)
	cmd, _, stderr := startSuite(t, d, file, "--out", dir, "--only", "issuer")
	if code := clitest.ExitCode(t, cmd); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	records := must.Get(os.ReadFile(filepath.Join(dir, suite.RecordsFile)))(t)
	refuse := func(what, want string, env ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "zkbench-suite", "suite", "--resume", dir)
		cmd.Env = append(os.Environ(), env...)
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != ExitUsage || !strings.Contains(string(out), want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", what, cmd.ProcessState.ExitCode(), out)
		}
		golden.Equal(t, what+": records", string(records), string(must.Get(os.ReadFile(filepath.Join(dir, suite.RecordsFile)))(t)))
	}
	refuse("other settings of the collector", "begun in another environment: gogc: 100 / 10; accepted: the same machine, settings and build", "GOGC=10")

	journal := filepath.Join(dir, "journal.db")
	good := must.Get(os.ReadFile(journal))(t)
	for what, change := range map[string][2]string{"another schema": {`"schema":1`, `"schema":2`}, "another figure": {`"latency-mean"`, `"latency-Mean"`}} {
		bad := bytes.ReplaceAll(good, []byte(change[0]), []byte(change[1]))
		if bytes.Equal(bad, good) {
			t.Fatalf("%s: nothing is changed", what)
		}
		must.Do(t, os.WriteFile(journal, bad, 0o600))
		refuse(what, "damaged: its digest does not match")
	}
	must.Do(t, os.WriteFile(journal, good, 0o600))
	cmd, stdout, stderr := startSuite(t, d, "--resume", dir)
	if code := clitest.ExitCode(t, cmd); code != ExitOK || strings.Contains(stdout.String(), "left)") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// TestSuiteDiskFull: a suite whose disk is full stops with the case's name, and goes on
// from there when there is room again. It needs the right to mount.
func TestSuiteDiskFull(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS != "linux" {
		t.Skip("mounts a file system of Linux")
	}
	file, _ := tinyFile(t)
	disk := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("no right to mount: %v: %s", err, out)
	}
	defer func() {
		if out, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}()
	d := newDoor(t)
	dir := filepath.Join(disk, "logs")
	cmd, _, stderr := startSuite(t, d, file, "--out", dir, "--only", "issuer", "--repetitions", "8")
	golden.Equal(t, "exit code", ExitFailed, clitest.ExitCode(t, cmd))
	got := stderr.String()
	if !strings.Contains(got, "no space left on device") || !strings.Contains(got, " of 16 processes measured; resume with: ") || strings.Count(got, "\n") != 1 {
		t.Errorf("stderr: %s", got)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,size=16m", disk).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd, stdout, stderr := startSuite(t, d, "--resume", dir)
	if code := clitest.ExitCode(t, cmd); code != ExitOK {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if n := strings.Count(stdout.String(), "left)\n"); n == 0 || n >= 16 {
		t.Errorf("%d cases measured after it went on, want some of 16", n)
	}
	seen := make(map[string]bool)
	_, recs := folderIDs(t, dir)
	for _, r := range recs {
		seen[fmt.Sprintf("%s #%d", r.Case, r.Process.Index)] = true
	}
	golden.Equal(t, "records and processes", [2]int{16, 16}, [2]int{len(recs), len(seen)})
}

// TestSuiteServed: the page of a suite that runs is served with how far it is, to the
// names of this machine alone, until an interrupt.
func TestSuiteServed(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt to send")
	}
	file, dir := tinyFile(t)
	d := newDoor(t)
	running, _, _ := startSuite(t, d, file, "--out", dir, "--only", "issuer,slow")
	conn := must.Get(d.Accept())(t)
	defer conn.Close()
	server := exec.CommandContext(t.Context(), "zkbench-suite", "report", "--serve", dir)
	out := must.Get(server.StdoutPipe())(t)
	must.Do(t, server.Start())
	line := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
	url, _, _ := strings.Cut(line, " ")
	get := func() string {
		answer := must.Get(http.Get(url + "data.json"))(t)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", answer.Status, body, err)
		}
		return string(body)
	}
	golden.Contains(t, get(), "Slow/bits=8", "Issuer")
	must.Do(t, running.Process.Signal(syscall.SIGINT))
	golden.Equal(t, "exit code of the suite", ExitPartial, clitest.ExitCode(t, running))
	if body := get(); strings.Contains(body, "Slow/bits=8") {
		t.Errorf("when it has stopped: %s", body)
	}
	must.Do(t, server.Process.Signal(syscall.SIGINT))
	golden.Equal(t, "exit code of the server", ExitOK, clitest.ExitCode(t, server))
}
