package runner

import (
	"runtime"
	"time"
)

// Starts is how a worker of an open loop waits for an operation that is due in the future.
type Starts string

const (
	StartsTimer Starts = ""     // by a timer of Go's: up to a millisecond late where the process is idle
	StartsSpin  Starts = "spin" // by the kernel's clock on a thread of its own, and the last moment awake: microseconds late, for processor time
	StartsAuto  Starts = "auto" // spin, timer where processors are few, or fewer than workers
)

// AllStarts are the values that a user may ask for.
func AllStarts() []Starts { return []Starts{StartsAuto, StartsSpin, "timer"} }

const (
	// spinProcessors are the processors from which on the spinning takes none from the load
	// that it would miss.
	spinProcessors = 4
	// spinFor is how long a worker is awake before a start: what a thread may wake up late
	// by, mostly.
	spinFor = 80 * time.Microsecond
	// napFor is the time before that in which the kernel's clock is asked: Go's timer has
	// woken the worker by then, mostly, and the window's end is seen within it.
	napFor = 2 * time.Millisecond
)

// spins tells whether workers, so many, wait for the moment itself.
func (s Starts) spins(workers int) bool {
	return s == StartsSpin || s == StartsAuto && runtime.GOMAXPROCS(0) >= max(spinProcessors, workers)
}

// await sleeps until a ticket is due, or its phase has ended: then it returns false.
func (r *run) await(w *worker, ph *phase, t ticket, timer *time.Timer, now time.Duration) (woken time.Duration, due bool) {
	wait := t.intended - now
	if r.spins {
		wait -= napFor + spinFor
	}
	if wait > 0 {
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-ph.ended:
			timer.Stop()
			return r.clock(), false
		}
	}
	now = r.clock()
	if !r.spins || now >= t.intended {
		return now, true
	}
	if left := t.intended - spinFor - now; left > 0 {
		nap(left)
		now = r.clock()
	}
	for begin := now; now < t.intended; {
		if now = r.clock(); now >= t.intended {
			w.mu.Lock()
			w.spun += now - begin
			w.mu.Unlock()
		}
	}
	return now, true
}
