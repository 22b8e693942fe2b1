//go:build unix

package meter

import (
	"time"

	"golang.org/x/sys/unix"
)

// usedByProcess are the counts of the process itself.
func usedByProcess() (c counts) {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) == nil {
		c.user, c.system = time.Duration(used.Utime.Nano()), time.Duration(used.Stime.Nano())
		c.preempted = uint64(used.Nivcsw)
	}
	return c
}
