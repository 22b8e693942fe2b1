package threadtime

import (
	"bytes"
	"os"
	"strconv"
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

// Queued returns how long the calling thread has waited for a processor so far, or 0 if that is not known.
func Queued() time.Duration {
	text, err := os.ReadFile("/proc/thread-self/schedstat") // time on a processor, time in the queue, turns
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 2 {
		return 0
	}
	ns, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(ns)
}

// Process returns the processor time that this process and those of its children that have ended have
// used so far.
func Process() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if syscall.Getrusage(who, &used) == nil {
			sum += time.Duration(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return sum
}
