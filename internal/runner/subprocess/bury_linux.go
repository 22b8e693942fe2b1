package subprocess

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/zkbench/zkbench/internal/sys/memory/system"
)

// Bury ends what a process of this package's that was killed could not end itself: all processes
// that have the entry in their environment, and the control groups that it made.
func Bury(pid int, entry string) {
	for found := true; found; { // one may start another meanwhile
		found = false
		dirs, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		for _, d := range dirs {
			other, err := strconv.Atoi(d.Name())
			if err != nil || other == os.Getpid() || !bytes.Contains(append(readProc(other, "environ"), 0), append([]byte(entry), 0)) {
				continue
			}
			found = syscall.Kill(other, syscall.SIGKILL) == nil || found
		}
	}
	for version, dir := range system.Groups("memory") {
		groups, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("zkbench-%d-*", pid)))
		for _, g := range groups {
			of := &group{g, version}
			of.end()
			of.remove()
		}
		return // a process makes groups in its own alone
	}
}
