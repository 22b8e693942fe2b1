// Package stage records the named stages of a case, such as set-up, prove and
// prove/commit: how long each took, the greatest memory of the process within
// it, what was allocated, and the sizes of what it made. Of a stage in which another
// program did the work the memory is that program's.
//
// Time and allocation are of the whole process between the stage's start and
// its end, so stages that overlap count what they share twice. Allocation is as
// the runtime's metric tells it, which lags by the allocator's spans in use:
// some tens of KB per processor.
package stage

import (
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/resources"
)

// Recorder keeps the stages of one case. It is safe for concurrent use.
type Recorder struct {
	mu     sync.Mutex
	stages []*Stage // in order of start
}

// Stage is a stage that has started. Stages may nest and overlap.
type Stage struct {
	of        *Recorder
	begun     time.Time
	peak      *resources.Peak
	allocated uint64 // by the process when the stage started

	// The rest is under the lock of the recorder.
	ended  bool
	result record.Stage
}

// New returns a recorder of no stages.
func New() *Recorder { return new(Recorder) }

// Start begins a stage. A name may occur more than once.
func (r *Recorder) Start(name string) *Stage {
	s := &Stage{of: r, peak: resources.OpenPeak(), result: record.Stage{Name: name}}
	r.mu.Lock()
	r.stages = append(r.stages, s)
	r.mu.Unlock()
	s.allocated, s.begun = allocated(), time.Now()
	return s
}

// End ends the stage, whose memory is that of this process. Ending it again changes nothing. A
// stage that is never ended is no stage of the record.
//
// The peak of the resident set is left out where the kernel's mark cannot be
// had: a stage takes no samples, so it knows no other.
func (s *Stage) End(sizes ...record.Metric) { s.end(sizes, func(*record.Stage) {}) }

// EndOf ends a stage in which another program did the work: whose memory the stage then has, its
// greatest resident set in bytes, 0 where it is not told. What this process allocated is left out.
func (s *Stage) EndOf(whose record.Whose, peak uint64, sizes ...record.Metric) {
	s.end(sizes, func(r *record.Stage) { r.Whose, r.PeakRSS, r.Allocated = whose, peak, 0 })
}

func (s *Stage) end(sizes []record.Metric, change func(*record.Stage)) {
	elapsed, total := time.Since(s.begun), allocated()
	rss, exact := s.peak.Close()
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	s.result.Time, s.result.Allocated, s.result.Sizes = elapsed, total-s.allocated, slices.Clone(sizes)
	s.result.Whose = record.OfOperations
	if exact {
		s.result.PeakRSS = rss
	}
	change(&s.result)
}

// Stages returns the stages that have ended, in order of start.
func (r *Recorder) Stages() []record.Stage {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ended []record.Stage
	for _, s := range r.stages {
		if s.ended {
			ended = append(ended, s.result)
		}
	}
	return ended
}

// allocated returns the bytes that the process has allocated on the heap so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
