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
	"errors"
	"fmt"
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
	unfit  error // why its time cannot be computed
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
	elapsed, predicted, unfit := s.elapsed()
	total := allocated()
	rss, exact := s.peak.Close()
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	if s.ended {
		return
	}
	s.ended = true
	s.result.Time, s.result.Allocated, s.result.Sizes = elapsed, total-s.allocated, slices.Clone(sizes)
	s.result.Whose, s.result.Predicted, s.unfit = record.OfOperations, predicted, unfit
	if exact {
		s.result.PeakRSS = rss
	}
	change(&s.result)
}

// elapsed returns how long the stage took, and from what that was computed if it was not timed.
// If it should have been computed and cannot be, elapsed returns why.
func (s *Stage) elapsed() (time.Duration, *record.Prediction, error) {
	timed := time.Since(s.begun)
	if s.tasks == nil {
		return timed, nil, nil
	}
	trace := s.tasks.End()
	took, predicted, err := Predict(trace, s.recorder.cpus)
	if err != nil {
		return timed, nil, err
	}
	return took, predicted, nil
}

// places is how many places a Prediction lists.
const places = 5

// These bound how long an operation may wait, and use processors outside its tasks, if its time is to be computed.
const (
	mostWaited    = 0.25 // of the recorded work
	mostElsewhere = 0.5
	clocks        = 20 * time.Microsecond // between readings of two clocks, if the thread is interrupted there
	collection    = 20 * time.Millisecond // that the collector may use beside a short stage
)

// Predict returns how long the trace takes on the given number of processors, and from what that was computed. It
// returns an error if the trace does not hold what the operation did: if the operation waited for something else, or
// other goroutines or processes did the work.
func Predict(trace *executor.Trace, cpus int) (time.Duration, *record.Prediction, error) {
	if trace == nil {
		return 0, nil, errors.New("it ended in another task than it began in")
	}
	work := trace.Work()
	if waited := trace.Waited(); float64(waited-clocks) > mostWaited*float64(work) {
		return 0, nil, fmt.Errorf("it waited %v beside %v of work", waited.Round(time.Microsecond), work.Round(time.Microsecond))
	}
	if elsewhere := trace.Elsewhere(); float64(elsewhere-collection) > mostElsewhere*float64(work) {
		return 0, nil, fmt.Errorf("%v of processor time were used outside the tasks of its executor, beside %v in them", elsewhere.Round(time.Microsecond), work.Round(time.Microsecond))
	}
	schedule := trace.Schedule(cpus)
	p := &record.Prediction{CPUs: cpus, Work: trace.Work(), Span: trace.Span(), Longest: trace.Longest()}
	for i, one := range schedule.Alone {
		p.Alone += one.Time
		if i < places {
			p.Places = append(p.Places, record.Place{Function: one.Function, Lines: one.Lines, Time: one.Time})
		}
	}
	return schedule.Time, p, nil
}

// Unfit returns why the times of stages could not be computed, by the names of these stages.
func (r *Recorder) Unfit() map[string]error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[string]error)
	for _, s := range r.stages {
		if s.unfit != nil {
			all[s.result.Name] = s.unfit
		}
	}
	return all
}

// Stages returns the stages that have ended, in the order in which they started, without those whose times could not
// be computed.
func (r *Recorder) Stages() []record.Stage {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ended []record.Stage
	for _, s := range r.stages {
		if s.ended && s.unfit == nil {
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
