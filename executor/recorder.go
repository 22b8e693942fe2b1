package executor

import (
	"bytes"
	"cmp"
	"context"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/zkbench/zkbench/internal/sys/threadtime"
)

// A Recorder is an executor that shows how an operation would run on more processors than there
// are. It runs all tasks in order on the caller's goroutine, as Serial does, and records how long
// each one used the processor and where it called Do. From that, a Trace computes the time on any
// number of processors.
//
// It records between Begin and End, on the goroutine that called Begin. On other goroutines Do runs
// tasks in order too, and Begin and End do nothing.
type Recorder struct {
	width int
	clocks
	owner atomic.Uint64 // the goroutine that records; 0: none. Only it uses the fields below.

	share int // of the width that a task has while its siblings run
	calls map[place]*place
	next  uintptr // the function of the tasks of the next call of Do, if that is not the one it is given

	strand *strand       // what the current task has done so far
	mark   time.Duration // when its current stretch began
	from   *place        // where that was

	left time.Duration // when the last stretch ended
	own  time.Duration // between stretches: what recording itself takes
}

// clocks is what a Recorder reads. Each function returns a time since some moment.
type clocks struct {
	clock   func() time.Duration // processor time of the calling thread
	wall    func() time.Duration
	queued  func() time.Duration // in which the calling thread waited for a processor
	process func() time.Duration // processor time of all threads
}

// NewRecorder returns a Recorder of the given width, at least 1. An operation that cuts its work by
// the executor's width is recorded once for each number of processors, with that width.
func NewRecorder(width int) *Recorder {
	created := time.Now()
	return &Recorder{
		width: max(1, width), share: max(1, width), calls: make(map[place]*place),
		clocks: clocks{threadtime.Now, func() time.Duration { return time.Since(created) }, threadtime.Queued, threadtime.Process},
	}
}

// records reports whether the calling goroutine is the one that records.
func (r *Recorder) records() bool {
	owner := r.owner.Load()
	return owner != 0 && owner == goroutine()
}

// goroutine returns the number of the calling goroutine, which the runtime tells in stack traces only.
func goroutine() uint64 {
	var trace [32]byte // goroutine 123 [running]: and so on
	digits, _, _ := bytes.Cut(bytes.TrimPrefix(trace[:runtime.Stack(trace[:], false)], []byte("goroutine ")), []byte(" "))
	id, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		panic("executor: a stack trace begins in another way")
	}
	return id
}

// strand is what one goroutine does in turn: stretches of work, with a call of Do between each two.
type strand struct {
	stretches []stretch // one more than forks, once the strand has ended
	forks     [][]strand
	task      uintptr // the function that it runs; 0: that which called Begin
}

// stretch is work without a call of Do.
type stretch struct {
	work     time.Duration
	from, to *place // nil: the beginning or end of the strand
}

// place is where Do, Begin or End was called: the program counters of the callers, the innermost
// first.
type place struct {
	at    [maxDepth]uintptr
	depth int
	mark  bool // Begin or End
}

// maxDepth is how many callers are recorded.
const maxDepth = 96

func (r *Recorder) Name() string { return "recorder" }

func (r *Recorder) Width() int { return r.width }

func (r *Recorder) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	now := r.clock()
	if n <= 0 || !r.records() {
		return serial{}.Do(ctx, n, task)
	}
	here := r.caller(1, false)
	outer := r.strand
	r.leave(outer, now, here)
	var tasks []strand
	name := cmp.Or(r.next, reflect.ValueOf(task).Pointer())
	share := r.share
	r.share, r.next = max(1, share/n), 0
	defer func() { // also when a task ends the goroutine
		r.share = share
		outer.forks = append(outer.forks, tasks)
		r.enter(outer, here)
	}()
	return serial{}.Do(ctx, n, func(ctx context.Context, i int) error {
		tasks = append(tasks, strand{task: name})
		defer r.endTask()
		r.enter(&tasks[len(tasks)-1], nil)
		return task(ctx, i)
	})
}

func (r *Recorder) endTask() { r.leave(r.strand, r.clock(), nil) }

// leave ends the current stretch of a strand, as of now.
func (r *Recorder) leave(s *strand, now time.Duration, to *place) {
	s.stretches = append(s.stretches, stretch{now - r.mark, r.from, to})
	r.left = now
}

// enter begins a stretch of a strand.
func (r *Recorder) enter(s *strand, from *place) {
	r.strand, r.from = s, from
	r.mark = r.clock()
	r.own += r.mark - r.left
}

// caller returns where the caller of a method of r was called, skip levels further out.
func (r *Recorder) caller(skip int, mark bool) *place {
	c := place{mark: mark}
	c.depth = runtime.Callers(2+skip, c.at[:])
	if known, ok := r.calls[c]; ok {
		return known
	}
	r.calls[c] = &c
	return &c
}

// A Section is a part of an operation that is being recorded.
type Section struct {
	recorder *Recorder
	strand   *strand // nil: nothing is recorded
	first    int     // its first stretch
	outer    bool
	wall     time.Duration
	queued   time.Duration
	process  time.Duration
	own      time.Duration
}

// Begin begins to record what the calling goroutine does, and binds the goroutine to its thread until
// End. Sections may nest, also inside tasks.
func (r *Recorder) Begin() *Section {
	now := r.clock()
	s := &Section{recorder: r}
	switch {
	case r.owner.CompareAndSwap(0, goroutine()):
		runtime.LockOSThread()
		s.outer, s.strand = true, new(strand)
		r.from, r.left = r.caller(1, true), now
	case r.records():
		s.strand = r.strand
		r.split(now)
	default:
		return s
	}
	s.first = len(s.strand.stretches)
	s.queued, s.process = r.queued(), r.process()
	now = r.clock()
	r.own += now - r.left // of an outer section, which recorded until the call
	s.own, r.left = r.own, now
	s.wall = r.wall() // last, since the others take longer than a short operation
	r.enter(s.strand, r.from)
	return s
}

// split ends the current stretch, as a call of Do without tasks would.
func (r *Recorder) split(now time.Duration) {
	here := r.caller(2, true)
	r.leave(r.strand, now, here)
	r.strand.forks = append(r.strand.forks, nil)
	r.from = here
}

// End ends the section and returns what was recorded since Begin. It must be called in the task, and
// on the goroutine, that called Begin. Otherwise it returns nil, and so it does if it is called again.
func (s *Section) End() *Trace {
	r := s.recorder
	now, elapsed := r.clock(), r.wall()-s.wall
	if s.strand == nil || !r.records() || r.strand != s.strand {
		return nil
	}
	r.split(now)
	own := s.strand
	t := &Trace{
		root: strand{
			stretches: slices.Clone(own.stretches[s.first:]),
			forks:     slices.Clone(own.forks[s.first : len(own.stretches)-1]),
			task:      own.task,
		},
		elapsed: elapsed - (r.queued() - s.queued) - (r.own - s.own),
		process: r.process() - s.process - (r.own - s.own),
	}
	s.strand = nil
	if s.outer {
		r.strand, r.from = nil, nil
		r.owner.Store(0)
		runtime.UnlockOSThread()
		return t
	}
	r.enter(own, r.from)
	return t
}
