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

func TestThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if a, b := threadtime.Thread(), threadtime.Thread(); a != b {
		t.Errorf("the thread has the numbers %d and %d", a, b)
	}
	other := make(chan int)
	go func() {
		runtime.LockOSThread()
		other <- threadtime.Thread()
	}()
	if got := <-other; runtime.GOOS == "linux" && got == threadtime.Thread() {
		t.Error("two threads have one number")
	}
}
