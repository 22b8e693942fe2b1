//go:build unix

package meter

import (
	"time"

	"golang.org/x/sys/unix"
)

// ownCounts reads the counts of the process itself.
func ownCounts() own {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return own{}
	}
	return own{clock(), time.Duration(used.Utime.Nano()), time.Duration(used.Stime.Nano()), uint64(used.Nivcsw)}
}
