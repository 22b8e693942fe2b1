package threadtime_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/sys/threadtime"
)

// TestNow: the clock runs while the thread works, and where the platform has one for threads it stands still while the
// thread sleeps.
func TestNow(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, sum := threadtime.Now(), 0
	for begun := time.Now(); time.Since(begun) < 20*time.Millisecond; {
		for i := range 1000 {
			sum += i
		}
	}
	if worked := threadtime.Now() - before; worked <= 0 || worked > time.Second {
		t.Errorf("%v of work, %d", worked, sum)
	}
	if runtime.GOOS != "linux" {
		return
	}
	before = threadtime.Now()
	time.Sleep(100 * time.Millisecond)
	if slept := threadtime.Now() - before; slept > 50*time.Millisecond {
		t.Errorf("the clock ran %v in a sleep", slept)
	}
}

// TestProcess: the time of the process contains that of a thread that works beside this one.
func TestProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the platform's processor times are not known")
	}
	before := threadtime.Process()
	done := make(chan time.Duration)
	go func() {
		runtime.LockOSThread()
		own := threadtime.Now()
		for threadtime.Now()-own < 50*time.Millisecond {
		}
		done <- threadtime.Now() - own
	}()
	// The kernel counts some of it in ticks.
	if worked, got := <-done, threadtime.Process()-before; got < worked/2 {
		t.Errorf("%v of the process, of which one thread used %v", got, worked)
	}
}

// TestQueued: what a thread waits for a processor only grows.
func TestQueued(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if a, b := threadtime.Queued(), threadtime.Queued(); a < 0 || b < a {
		t.Errorf("%v in the queue, then %v", a, b)
	}
}
