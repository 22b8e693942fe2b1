package executor

import (
	"cmp"
	"container/heap"
	"fmt"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A Trace is the recorded part of an operation: its tasks, the processor time of each, and what it
// waited for. It does not know what happens between processors: how they share caches and memory
// bandwidth, what the garbage collector does on them, how their clocks slow down when all are busy,
// and how long a parked one takes to wake up.
type Trace struct {
	root    strand
	elapsed time.Duration // from Begin to End, without recording and the time in which the thread waited for a processor
	process time.Duration // processor time of all threads, without recording, and of processes that ended
}

// Waited returns how long the recorded goroutine was neither at work nor without a processor: it waited
// for other goroutines, other processes, a disk or a clock. No schedule contains that.
func (t *Trace) Waited() time.Duration { return max(0, t.elapsed-t.Work()) }

// Elsewhere returns the processor time of other threads of the process meanwhile, and of processes that
// it started and that have ended: goroutines that are not tasks of the Recorder, and the garbage
// collector. No schedule contains that.
func (t *Trace) Elsewhere() time.Duration { return max(0, t.process-t.Work()) }

// Work returns the processor time of all tasks together. It is the time on one processor.
func (t *Trace) Work() time.Duration { return t.root.work() }

func (s *strand) work() time.Duration {
	var sum time.Duration
	for _, one := range s.stretches {
		sum += one.work
	}
	for _, tasks := range s.forks {
		for i := range tasks {
			sum += tasks[i].work()
		}
	}
	return sum
}

// Span returns the time of the longest chain of work of which each piece waits for the one before.
// No number of processors is faster. Work divided by Span is the operation's parallelism.
func (t *Trace) Span() time.Duration { return t.root.span() }

func (s *strand) span() time.Duration {
	var sum time.Duration
	for _, one := range s.stretches {
		sum += one.work
	}
	for _, tasks := range s.forks {
		var longest time.Duration
		for i := range tasks {
			longest = max(longest, tasks[i].span())
		}
		sum += longest
	}
	return sum
}

// Longest returns the time of the longest task that contains no call of Do. The context of an
// operation is looked at between tasks, so this is how late it can notice that it was cancelled.
func (t *Trace) Longest() time.Duration { return t.root.longest() }

func (s *strand) longest() time.Duration {
	var most time.Duration
	for _, one := range s.stretches {
		most = max(most, one.work)
	}
	for _, tasks := range s.forks {
		for i := range tasks {
			most = max(most, tasks[i].longest())
		}
	}
	return most
}

// A Schedule is how a trace runs on a number of processors.
type Schedule struct {
	CPUs  int
	Time  time.Duration
	Alone []Stretch // when one processor was busy and the others had nothing to do, the longest first
}

// A Stretch is a place in the program, and the time that was spent there.
type Stretch struct {
	Function string // without the path of its package, for example group.(*sums[...]).finish
	Lines    string // of the source, for example msm.go:206-221
	Time     time.Duration
}

// Schedule returns the schedule on the given number of processors, at least 1. It is greedy: while
// there is a task that may run, no processor is idle. Tasks of an older call of Do come first, as in
// the pool.
func (t *Trace) Schedule(cpus int) Schedule {
	m := &machine{free: max(1, cpus), alone: make(map[stretchKey]time.Duration)}
	m.resumed = append(m.resumed, &activation{strand: &t.root})
	for m.dispatch(); len(m.running) > 0; m.dispatch() {
		m.step()
	}
	s := Schedule{CPUs: max(1, cpus), Time: m.now}
	if s.CPUs == 1 {
		return s
	}
	named := make(map[Stretch]time.Duration)
	for key, sum := range m.alone {
		named[key.name()] += sum
	}
	for where, sum := range named {
		where.Time = sum
		s.Alone = append(s.Alone, where)
	}
	slices.SortFunc(s.Alone, func(a, b Stretch) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), strings.Compare(a.Function, b.Function), strings.Compare(a.Lines, b.Lines))
	})
	return s
}

// machine simulates processors.
type machine struct {
	now     time.Duration
	free    int // idle processors
	running events
	resumed []*activation // may go on
	open    []*opened     // calls of Do with tasks that have not begun, the oldest first
	alone   map[stretchKey]time.Duration
}

// activation is a strand that has begun.
type activation struct {
	strand *strand
	at     int     // its current stretch
	parent *opened // nil: the root
}

// opened is a call of Do.
type opened struct {
	by         *activation
	tasks      []strand
	next, left int
}

// dispatch gives work to idle processors.
func (m *machine) dispatch() {
	for ; m.free > 0; m.free-- {
		var a *activation
		switch last := len(m.resumed) - 1; {
		case last >= 0:
			a, m.resumed = m.resumed[last], m.resumed[:last]
		case len(m.open) > 0:
			o := m.open[0]
			a = &activation{strand: &o.tasks[o.next], parent: o}
			if o.next++; o.next == len(o.tasks) {
				m.open = m.open[1:]
			}
		default:
			return
		}
		heap.Push(&m.running, event{m.now + a.strand.stretches[a.at].work, a})
	}
}

// step goes on to the end of a stretch.
func (m *machine) step() {
	e := heap.Pop(&m.running).(event)
	if len(m.running) == 0 {
		one := &e.of.strand.stretches[e.of.at]
		m.alone[stretchKey{one.from, one.to, e.of.strand.task}] += e.end - m.now
	}
	m.now = e.end
	m.free++
	a := e.of
	if a.at < len(a.strand.forks) {
		tasks := a.strand.forks[a.at]
		a.at++
		if len(tasks) == 0 {
			m.resumed = append(m.resumed, a)
			return
		}
		m.open = append(m.open, &opened{by: a, tasks: tasks, left: len(tasks)})
		return
	}
	if o := a.parent; o != nil {
		if o.left--; o.left == 0 {
			m.resumed = append(m.resumed, o.by)
		}
	}
}

// event is the end of a stretch.
type event struct {
	end time.Duration
	of  *activation
}

// events is a heap, the earliest first.
type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].end < e[j].end }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// stretchKey is between which calls a stretch is.
type stretchKey struct {
	from, to *place
	task     uintptr
}

// name says in which function the stretch is: the innermost one that both calls have in common, and
// from which of its lines to which. A stretch at the beginning or end of a task, or of a section, is in
// the function that is named or in one that it called or was called by.
func (k stretchKey) name() Stretch {
	from, to := k.from.frames(), k.to.frames()
	switch {
	case from == nil && to == nil:
		f := runtime.FuncForPC(k.task)
		if f == nil {
			return Stretch{Function: "unknown"}
		}
		file, line := f.FileLine(k.task)
		return Stretch{short(f.Name()), fmt.Sprintf("%s:%d", path.Base(file), line), 0}
	case from == nil:
		return upTo(inTask(to))
	case to == nil:
		return since(inTask(from))
	case k.from.mark && !k.to.mark:
		return upTo(to[len(to)-1])
	case k.to.mark && !k.from.mark:
		return since(from[len(from)-1])
	}
	i := 0
	for i+1 < min(len(from), len(to)) && from[i] == to[i] {
		i++
	}
	if from[i].Function != to[i].Function {
		if i == 0 { // the outer callers were not recorded
			return upTo(to[len(to)-1])
		}
		i--
	}
	lines := fmt.Sprintf("%s:%d-%d", path.Base(from[i].File), from[i].Line, to[i].Line)
	if to[i].Line <= from[i].Line {
		lines += " (loop)"
	}
	return Stretch{short(from[i].Function), lines, 0}
}

func upTo(f site) Stretch {
	return Stretch{short(f.Function), fmt.Sprintf("%s:-%d", path.Base(f.File), f.Line), 0}
}

func since(f site) Stretch {
	return Stretch{short(f.Function), fmt.Sprintf("%s:%d-", path.Base(f.File), f.Line), 0}
}

// site is a line of the source.
type site struct {
	Function, File string
	Line           int
}

// frames returns the callers, the outermost first.
func (c *place) frames() []site {
	if c == nil {
		return nil
	}
	var all []site
	for frames := runtime.CallersFrames(c.at[:c.depth]); ; {
		f, more := frames.Next()
		all = append(all, site{f.Function, f.File, f.Line})
		if !more {
			break
		}
	}
	slices.Reverse(all)
	return all
}

// inTask returns the line of the innermost task's function, which Ranges may have called.
func inTask(frames []site) site {
	own := reflect.TypeFor[Recorder]().PkgPath()
	i := len(frames) - 1
	for i > 0 && !strings.HasPrefix(frames[i-1].Function, own+".(*Recorder).Do") && !strings.HasPrefix(frames[i-1].Function, own+".Ranges") {
		i--
	}
	return frames[i]
}

// short returns a function's name without the path of its package.
func short(function string) string {
	// The brackets of type arguments may hold paths too.
	end := strings.IndexByte(function, '[')
	if end < 0 {
		end = len(function)
	}
	return function[strings.LastIndexByte(function[:end], '/')+1:]
}
