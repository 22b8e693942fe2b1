//go:build !unix

package subprocess

import (
	"os"
	"os/exec"
)

// InGroup does nothing on this platform.
func InGroup(*exec.Cmd) {}

// killGroup kills a program. The processes that it started are not known on this platform.
func killGroup(p *os.Process) bool {
	_ = p.Kill()
	return false
}

func endGroup(*os.Process) bool { return false }

func fillUse(u *Use, state *os.ProcessState, _, _ uint64) {
	if state != nil {
		u.User, u.System = state.UserTime(), state.SystemTime()
	}
}
