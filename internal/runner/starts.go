package runner

import (
	"runtime"
	"time"
)

// Starts says how a worker of an open loop waits for an operation that is due in the future.
type Starts string

// Ways to wait for a start.
const (
	StartsTimer Starts = ""     // by a Go timer: up to a millisecond late if the process is idle
	StartsSpin  Starts = "spin" // sleeps on a thread of its own, then spins: microseconds late, but costs processor time
	StartsAuto  Starts = "auto" // spin if there are at least four processors and no fewer than workers, else timer
)

// AllStarts returns the values that a user may choose. For StartsTimer, whose value is the
// empty string, the result has "timer".
func AllStarts() []Starts { return []Starts{StartsAuto, StartsSpin, "timer"} }

const (
	// spinProcessors is the number of processors from which on spinning takes none that the
	// load would miss.
	spinProcessors = 4
	// spinFor is how long a worker spins before a start. Most sleeping threads wake up no later
	// than this.
	spinFor = 80 * time.Microsecond
	// napFor is how long before the spinning a worker sleeps by the kernel's clock. Go's timer
	// has mostly woken the worker by then. A worker notices the end of the window at most this
	// much late.
	napFor = 2 * time.Millisecond
)

// spins reports whether the given number of workers spin before a start.
func (s Starts) spins(workers int) bool {
	return s == StartsSpin || s == StartsAuto && runtime.GOMAXPROCS(0) >= max(spinProcessors, workers)
}

// await sleeps until a ticket is due. It returns false if the ticket's phase ends before.
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
