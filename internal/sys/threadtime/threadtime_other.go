//go:build !linux

package threadtime

import "time"

// Now returns the time of a monotonic clock, since this platform does not report the processor time of
// a thread.
func Now() time.Duration { return wall() }

// Queued returns 0, since this platform does not report how long a thread waits for a processor.
func Queued() time.Duration { return 0 }

// Process returns 0, since this package does not know the processor time of a process here.
func Process() time.Duration { return 0 }
