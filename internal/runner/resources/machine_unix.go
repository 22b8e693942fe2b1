//go:build unix

package resources

import (
	"time"

	"golang.org/x/sys/unix"
)

// ownCounts reads the counts of this process, and of children that it has waited for or adopted:
// it started them to measure them.
func ownCounts() own {
	var used, children unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil || unix.Getrusage(unix.RUSAGE_CHILDREN, &children) != nil {
		return own{}
	}
	running, all, adopting := adopted.cpu()
	return own{
		wall: clock(), adopted: all, adopting: adopting,
		user:      time.Duration(used.Utime.Nano()+children.Utime.Nano()) + running.User,
		system:    time.Duration(used.Stime.Nano()+children.Stime.Nano()) + running.System,
		preempted: uint64(used.Nivcsw + children.Nivcsw),
	}
}
