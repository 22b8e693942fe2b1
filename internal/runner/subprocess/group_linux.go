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

// group is the control group of a program, below that of this process. It knows all that the
// program started, also what has left its process group. A nil one is of a program without.
type group struct {
	dir     string
	version int // of control groups
}

var groups atomic.Uint64 // made by this process

// newGroup makes a control group; nil where this process may not.
func newGroup() *group {
	for version, dir := range system.Groups("memory") {
		// Where no hierarchy is mounted, a directory could be made all the same.
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

// add puts a program into the group, which what it starts is then in too.
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

// end kills what is left in the group when its program has ended, and tells how many there were.
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

// fill takes what the group tells of its memory, which needs a controller that not every group has.
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
