package resources

import (
	"math"
	"slices"
	"sync"
)

// Peak is an open measurement of the process' greatest resident set. Any number
// may be open, one within the other or overlapping.
//
// The kernel keeps one high-water mark per process. Opening a peak resets it,
// and every reset first folds the mark into the peaks that are open, so that
// each of them sees the greatest of all marks since it was opened. Nothing else
// in the process may reset the mark.
type Peak struct {
	of *peaks

	// The rest is under the lock of the peaks.
	floor    uint64 // a mark not above it may be from before the opening
	greatest uint64 // of the marks above the floor
	sampled  uint64 // greatest resident set that was sampled
	closed   bool
}

// OpenPeak opens a peak. One that is never closed costs each further reset and
// sample a comparison.
func OpenPeak() *Peak { return process.openPeak() }

// Close ends the peak and returns the greatest resident set since it was opened,
// in bytes, 0 where the platform does not tell; closing again returns the same.
//
// exact says that it is the kernel's mark, which misses nothing. It is false
// where the mark may not be reset and has not risen since the opening: then rss
// is the greatest that was sampled, when a peak was opened or closed or by
// Meter.Sample, a lower bound.
func (p *Peak) Close() (rss uint64, exact bool) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if !p.closed {
		p.of.observe()
		p.of.fold()
		p.of.open = slices.DeleteFunc(p.of.open, func(o *Peak) bool { return o == p })
		p.closed = true
	}
	return max(p.greatest, p.sampled), p.greatest > 0
}

// process is the peaks of this process. The mark that they share is the
// kernel's, one per process whatever this package does, so its users must know
// of each other: this is state of the package, and the lock is there because
// stages and windows open and close on goroutines of their own.
var process = &peaks{kernel: newKernel()}

// kernel is what the platform tells of the process' memory. The peaks' lock
// guards its calls.
type kernel interface {
	resident() resident     // zero: not told
	mark() (rss uint64)     // greatest resident set since the last reset; 0: not told
	resetMark() (done bool) // makes the mark that of this moment
}

// resident is what lies in physical memory, in bytes.
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
	p := &Peak{of: s}
	if !s.kernel.resetMark() {
		p.floor = mark
		if mark == 0 {
			p.floor = math.MaxUint64 // no later mark can be told from an earlier one
		}
	}
	s.open = append(s.open, p)
	s.observe()
	return p
}

// sample returns the resident set of this moment and shows it to the open peaks.
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

// fold shows the kernel's mark to the open peaks and returns it.
func (s *peaks) fold() uint64 {
	mark := s.kernel.mark()
	for _, p := range s.open {
		if mark > p.floor {
			p.greatest = max(p.greatest, mark)
		}
	}
	return mark
}
