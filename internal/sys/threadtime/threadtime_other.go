//go:build !linux

package threadtime

import "time"

// Now returns the time of a monotonic clock, since this platform does not report the processor time of
// a thread.
func Now() time.Duration { return wall() }

// Thread returns 0, since this platform has no number for a thread that costs no more than a call.
func Thread() int { return 0 }
