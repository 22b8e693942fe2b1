package threadtime

import (
	"syscall"
	"time"
	"unsafe"
)

// cpuClock is CLOCK_THREAD_CPUTIME_ID of clock_gettime(2).
const cpuClock = 3

// Now returns the processor time that the calling thread has used so far. Differences have a meaning
// only while the goroutine stays on its thread (runtime.LockOSThread).
func Now() time.Duration {
	var t syscall.Timespec
	if _, _, failed := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, cpuClock, uintptr(unsafe.Pointer(&t)), 0); failed != 0 {
		return wall()
	}
	return time.Duration(t.Nano())
}

// Thread returns a number that the calling thread shares with no other.
func Thread() int { return syscall.Gettid() }
