package resources

import (
	"math"
	"slices"
	"sync"
)

// Peak measures the process's peak resident set while it is open. Any number of Peaks may be
// open at the same time, nested or overlapping.
//
// The kernel keeps one high-water mark per process. Opening a Peak resets it. Before
// every reset the mark is recorded in all open Peaks, so that each has the maximum
// since it was opened. Nothing else in the process may reset the mark.
type Peak struct {
	peaks *peaks

	// The lock of peaks guards the fields below.
	floor    uint64 // a mark not above floor may be from before the opening
	greatest uint64 // maximum of the marks above floor
	sampled  uint64 // maximum resident set of the samples
	closed   bool
}

// OpenPeak opens a Peak. Close it when it is no longer needed: while it is open, each
// reset and sample takes one comparison more.
func OpenPeak() *Peak { return process.openPeak() }

// Close returns the peak resident set since p was opened, in bytes, or 0 if the platform
// does not report it. Closing p again returns the same values.
//
// If the result exact is true, rss is the kernel's high-water mark, which misses nothing.
// The result exact is false if the mark cannot be reset and has not risen since the opening.
// Then rss is a lower bound: the maximum of the samples, taken by Meter.Sample and when a
// Peak is opened or closed.
func (p *Peak) Close() (rss uint64, exact bool) {
	p.peaks.mu.Lock()
	defer p.peaks.mu.Unlock()
	if !p.closed {
		p.peaks.observe()
		p.peaks.fold()
		p.peaks.open = slices.DeleteFunc(p.peaks.open, func(o *Peak) bool { return o == p })
		p.closed = true
	}
	return max(p.greatest, p.sampled), p.greatest > 0
}

// process holds the peaks of this process. It is state of the package because all
// peaks share the kernel's mark, of which there is one per process. It has a lock
// because stages and windows open and close on different goroutines.
var process = &peaks{kernel: newKernel()}

// kernel reads the process's memory figures from the platform. The lock of peaks
// guards its calls.
type kernel interface {
	resident() resident     // zero if not reported
	mark() (rss uint64)     // peak resident set since the last reset; 0 if not reported
	resetMark() (done bool) // sets the mark to the current resident set
}

// resident is the process's physical memory, in bytes.
type resident struct{ anon, file uint64 }

func (r resident) rss() uint64 { return r.anon + r.file }

type peaks struct {
	mu     sync.Mutex
	kernel kernel
	open   []*Peak
}

func (s *peaks) openPeak() *Peak {
	s.mu.Lock()
	defer s.mu.Unlock()
	mark := s.fold()
	p := &Peak{peaks: s}
	if !s.kernel.resetMark() {
		p.floor = mark
		if mark == 0 {
			p.floor = math.MaxUint64 // later marks cannot be distinguished from earlier ones
		}
	}
	s.open = append(s.open, p)
	s.observe()
	return p
}

// sample returns the current resident set and records it in the open peaks.
func (s *peaks) sample() resident {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.observe()
}

func (s *peaks) observe() resident {
	now := s.kernel.resident()
	for _, p := range s.open {
		p.sampled = max(p.sampled, now.rss())
	}
	return now
}

// fold records the kernel's mark in the open peaks and returns it.
func (s *peaks) fold() uint64 {
	mark := s.kernel.mark()
	for _, p := range s.open {
		if mark > p.floor {
			p.greatest = max(p.greatest, mark)
		}
	}
	return mark
}
