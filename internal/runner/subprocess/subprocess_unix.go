//go:build unix

package subprocess

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// inGroup gives the program a process group of its own.
func inGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the process group of a program, and tells whether it had members.
func killGroup(p *os.Process) bool { return syscall.Kill(-p.Pid, syscall.SIGKILL) == nil }

// endGroup kills the process group of a program that has ended, and tells whether one of it lived.
func endGroup(p *os.Process) bool {
	for { // those that have ended have come to this process
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(-p.Pid, &status, syscall.WNOHANG, nil); pid <= 0 || err != nil {
			break
		}
	}
	return killGroup(p)
}

// diskBlock is what getrusage(2) counts reads and writes in.
const diskBlock = 512

// fillUse takes what wait4(2) tells of a program. mark is the greatest resident set that this
// process had had when it started the program, seen the greatest that the program was seen to have.
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
	// The kernel counts in what the process was before it became the program: an image of this
	// one. Well above that mark the peak is the program's; else it is what was seen.
	if peak > mark+mark/8 {
		u.PeakRSS = peak
	} else {
		u.PeakRSS = seen
	}
}

// ended waits until a process is gone, as far as it is ours.
func ended(pid int, wait time.Duration) {
	for begin := time.Now(); time.Since(begin) < wait; time.Sleep(time.Millisecond) {
		var status syscall.WaitStatus
		if got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil); got == pid || err != nil {
			return
		}
	}
}
