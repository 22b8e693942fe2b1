//go:build unix

package subprocess

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// InGroup gives the program that cmd will start a process group of its own, so that an interrupt from a terminal does not
// reach it.
func InGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the process group of a program, and reports whether it had members.
func killGroup(p *os.Process) bool { return syscall.Kill(-p.Pid, syscall.SIGKILL) == nil }

// endGroup kills the process group of a program that has ended, and reports whether a member was
// alive.
func endGroup(p *os.Process) bool {
	for { // members that have ended are children of this process now
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(-p.Pid, &status, syscall.WNOHANG, nil); pid <= 0 || err != nil {
			break
		}
	}
	return killGroup(p)
}

// diskBlock is the unit in which getrusage(2) counts reads and writes, in bytes.
const diskBlock = 512

// fillUse sets in u what wait4(2) reports on a program. mark is the peak resident set of this
// process when it started the program; seen is the peak that watch has found for the program.
func fillUse(u *Use, state *os.ProcessState, mark, seen uint64) {
	if state == nil {
		return
	}
	u.User, u.System = state.UserTime(), state.SystemTime()
	r, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return
	}
	u.Read, u.Written = uint64(r.Inblock)*diskBlock, uint64(r.Oublock)*diskBlock
	peak := uint64(r.Maxrss)
	if runtime.GOOS != "darwin" {
		peak <<= 10
	}
	// The kernel includes what the process was before it became the program: an image of this
	// one. A peak well above mark is therefore the program's; otherwise use what watch has found.
	if peak > mark+mark/8 {
		u.PeakRSS = peak
	} else {
		u.PeakRSS = seen
	}
}

// ended waits until a process is gone. It returns at once if the process is not a child of this one.
func ended(pid int, wait time.Duration) {
	for begin := time.Now(); time.Since(begin) < wait; time.Sleep(time.Millisecond) {
		var status syscall.WaitStatus
		if got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil); got == pid || err != nil {
			return
		}
	}
}
