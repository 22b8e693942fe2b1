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

// Bury cleans up after a process that used this package and was killed. It kills all processes
// whose environment contains entry, which has the form KEY=value. It also removes the control
// groups that the process with the ID pid made.
func Bury(pid int, entry string) {
	for found := true; found; { // a process may have started another meanwhile
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
			left := &group{g, version}
			left.end()
			left.remove()
		}
		return // a process makes groups only below its own
	}
}
