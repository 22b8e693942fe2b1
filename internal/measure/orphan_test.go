//go:build linux

package measure_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// orphan starts a process in a session of its own, prints its number and a temporary file, and is
// killed.
func orphan() int {
	other := exec.Command(os.Args[0], childArg, "hang")
	other.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	file, err := os.CreateTemp("", "left")
	if err != nil || other.Start() != nil {
		return 1
	}
	fmt.Fprintln(os.Stderr, other.Process.Pid, file.Name())
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	return 1
}

// TestKilled: of a child that was killed neither processes nor temporary files are left.
func TestKilled(t *testing.T) {
	rec := command(t, "orphan").Run(t.Context(), job())
	_, told, _ := strings.Cut(rec.Error, "signal: killed: ")
	var pid int
	var path string
	if must.Get(fmt.Sscan(told, &pid, &path))(t); rec.Status != record.Failed {
		t.Errorf("%s: %s", rec.Status, rec.Error)
	}
	for begin := time.Now(); syscall.Kill(pid, 0) == nil && time.Since(begin) < 5*time.Second; time.Sleep(10 * time.Millisecond) {
		if raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); strings.Contains(string(raw), ") Z ") {
			break // whoever adopted it has not looked yet
		}
	}
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(raw), ") Z ") {
		t.Errorf("process %d lives", pid)
	}
	if _, err := os.Stat(path); err == nil {
		t.Errorf("%s is left", path)
	}
}
