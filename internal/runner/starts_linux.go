package runner

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sharpen gives the worker a thread of its own, which ends with the worker. The kernel then
// does not delay its wake-ups to join them with others.
func sharpen() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // on failure it stays at 50 µs, which the spinning covers
}

// nap sleeps by the kernel's clock; a signal may end it early.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil)
}
