package subprocess

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/zkbench/zkbench/internal/sys/memory/system"
)

// group is the control group of a program, below that of this process. It contains every process
// that the program started, including those that have left its process group. A nil group means
// that the program has none.
type group struct {
	dir     string
	version int // of control groups
}

var groups atomic.Uint64 // made by this process

// newGroup makes a control group. It returns nil if this process has no permission to.
func newGroup() *group {
	for version, dir := range system.Groups("memory") {
		// If no hierarchy is mounted, Mkdir would make an ordinary directory.
		if _, err := os.Stat(filepath.Join(dir, "cgroup.procs")); err != nil {
			return nil
		}
		g := &group{filepath.Join(dir, fmt.Sprintf("zkbench-%d-%d", os.Getpid(), groups.Add(1))), version}
		if os.Mkdir(g.dir, 0o755) != nil {
			return nil
		}
		return g
	}
	return nil
}

func (g *group) read(name string) []byte {
	raw, err := os.ReadFile(filepath.Join(g.dir, name))
	if err != nil {
		return nil
	}
	return raw
}

// add puts a process into the group. Processes that it starts later are in the group too.
func (g *group) add(pid int) {
	if g != nil {
		_ = os.WriteFile(filepath.Join(g.dir, "cgroup.procs"), strconv.AppendInt(nil, int64(pid), 10), 0)
	}
}

func (g *group) members() (pids []int) {
	if g == nil {
		return nil
	}
	for line := range strings.FieldsSeq(string(g.read("cgroup.procs"))) {
		if pid, err := strconv.Atoi(line); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (g *group) kill() {
	for _, pid := range g.members() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// end kills the processes that are left in the group after its program has ended, and returns
// their number.
func (g *group) end() (left int) {
	for begin := time.Now(); time.Since(begin) < drained; {
		pids := g.members()
		if len(pids) == 0 {
			break
		}
		left = max(left, len(pids))
		g.kill()
		for _, pid := range pids {
			ended(pid, drained)
		}
	}
	return left
}

// fill sets the peak memory of the group in u, if the group has a memory controller.
func (g *group) fill(u *Use) {
	if g == nil {
		return
	}
	peak := "memory.peak"
	if g.version == 1 {
		peak = "memory.max_usage_in_bytes"
	}
	if n, err := strconv.ParseUint(string(bytes.TrimSpace(g.read(peak))), 10, 64); err == nil {
		u.GroupPeak = n
	}
}

func (g *group) remove() {
	if g != nil {
		_ = os.Remove(g.dir)
	}
}
