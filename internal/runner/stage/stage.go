// Package stage records the named stages of a case, such as set-up, prove and
// prove/commit. For each stage it records the time, the peak memory of the
// process, the bytes allocated, and the sizes of its results. If another program
// did a stage's work, the memory is that program's.
//
// Time and allocation are those of the whole process between the stage's start and
// end, so overlapping stages count the common part twice. Allocation is read from
// the runtime's metric, which lags by the allocator's spans in use: some tens of KB
// per processor.
package stage

import (
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/resources"
)

// Recorder collects the stages of one case. It is safe for concurrent use.
type Recorder struct {
	tasks *executor.Recorder // nil: stages are timed
	cpus  int                // for which their times are computed; 0: they are timed

	mu     sync.Mutex
	stages []*Stage // in order of start
}

// Stage is a stage that has started. Stages may nest and overlap.
type Stage struct {
	recorder  *Recorder
	begun     time.Time
	tasks     *executor.Section // nil: timed
	peak      *resources.Peak
	allocated uint64 // by the process when the stage started

	// The recorder's lock guards the fields below.
	ended  bool
	result record.Stage
}

// New returns an empty Recorder.
func New() *Recorder { return new(Recorder) }

// NewPredicted returns an empty Recorder that does not time the stages, but computes how long each takes on
// the given number of processors. Operations must run on the executor tasks, whose width is that number, and
// a stage must end in the task that started it.
func NewPredicted(tasks *executor.Recorder) *Recorder {
	return &Recorder{tasks: tasks, cpus: tasks.Width()}
}

// Start starts a stage. A name may occur more than once.
func (r *Recorder) Start(name string) *Stage {
	s := &Stage{recorder: r, peak: resources.OpenPeak(), result: record.Stage{Name: name}}
	r.mu.Lock()
	r.stages = append(r.stages, s)
	r.mu.Unlock()
	s.allocated, s.begun = allocated(), time.Now()
	if r.tasks != nil {
		s.tasks = r.tasks.Begin()
	}
	return s
}

// End ends a stage in which this process did the work, and records the sizes of its results.
// Ending a stage again changes nothing. A stage that is never ended is not recorded.
//
// The peak of the resident set is left out if the kernel does not report it for the stage
// alone. A stage takes no samples of the memory, so there is no other value to record.
func (s *Stage) End(sizes ...record.Metric) { s.end(sizes, func(*record.Stage) {}) }

// EndOf ends a stage in which another program did the work. The first argument says which
// program that was. The second is the program's largest resident set in bytes, or 0 if that
// is not known. The allocations of this process are left out.
func (s *Stage) EndOf(whose record.Whose, peak uint64, sizes ...record.Metric) {
	s.end(sizes, func(r *record.Stage) { r.Whose, r.PeakRSS, r.Allocated = whose, peak, 0 })
}

func (s *Stage) end(sizes []record.Metric, change func(*record.Stage)) {
	elapsed, predicted := s.elapsed()
	total := allocated()
	rss, exact := s.peak.Close()
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	s.result.Time, s.result.Allocated, s.result.Sizes = elapsed, total-s.allocated, slices.Clone(sizes)
	s.result.Whose, s.result.Predicted = record.OfOperations, predicted
	if exact {
		s.result.PeakRSS = rss
	}
	change(&s.result)
}

// elapsed returns how long the stage took, and from what that was computed if it was not timed.
func (s *Stage) elapsed() (time.Duration, *record.Prediction) {
	timed := time.Since(s.begun)
	if s.tasks == nil {
		return timed, nil
	}
	trace := s.tasks.End()
	if trace == nil {
		return timed, nil
	}
	return Predict(trace, s.recorder.cpus)
}

// places is how many places a Prediction lists.
const places = 5

// Predict returns how long the trace takes on the given number of processors, and from what that was computed.
func Predict(trace *executor.Trace, cpus int) (time.Duration, *record.Prediction) {
	schedule := trace.Schedule(cpus)
	p := &record.Prediction{CPUs: cpus, Work: trace.Work(), Span: trace.Span(), Longest: trace.Longest()}
	for i, one := range schedule.Alone {
		p.Alone += one.Time
		if i < places {
			p.Places = append(p.Places, record.Place{Function: one.Function, Lines: one.Lines, Time: one.Time})
		}
	}
	return schedule.Time, p
}

// Stages returns the stages that have ended, in the order in which they started.
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
