package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// pretended returns a Recorder with clocks that only the function spend moves.
func pretended(width int) (r *Recorder, spend func(time.Duration)) {
	r = NewRecorder(width)
	var now time.Duration
	read := func() time.Duration { return now }
	r.clocks = clocks{clock: read, wall: read, queued: func() time.Duration { return 0 }, process: read}
	return r, func(d time.Duration) { now += d }
}

// forkOf calls Do with tasks that take the given times.
func forkOf(t *testing.T, r *Recorder, spend func(time.Duration), times ...time.Duration) {
	t.Helper()
	must.Do(t, r.Do(t.Context(), len(times), func(_ context.Context, i int) error {
		spend(times[i])
		return nil
	}))
}

// TestSchedule: 3 alone, then tasks of 2, 1, 1, 4, 1 and 1, of which the third has two parts of 2 more, then 5 alone.
func TestSchedule(t *testing.T) {
	r, spend := pretended(4)
	section := r.Begin()
	spend(3)
	times := []time.Duration{2, 1, 1, 4, 1, 1}
	must.Do(t, r.Do(t.Context(), len(times), func(_ context.Context, i int) error {
		spend(times[i])
		if i == 2 {
			forkOf(t, r, spend, 2, 2)
		}
		return nil
	}))
	spend(5)
	trace := section.End()
	golden.Equal(t, "work", 22, trace.Work())
	golden.Equal(t, "span", 12, trace.Span())
	golden.Equal(t, "longest task", 5, trace.Longest())
	for cpus, want := range map[int]time.Duration{
		1: 22, // the work
		// 2 and 1, 1, 4, 1, 1, of which the third's parts wait for what began before: the processors are busy to
		// 3+6 and 3+8.
		2: 16,
		3: 13,
		9: 12, // the span
	} {
		golden.Equal(t, fmt.Sprintf("time on %d", cpus), want, trace.Schedule(cpus).Time)
	}
}

// TestScheduleIsGreedy: whatever the tasks are, the time lies between the bounds of Graham and Brent.
func TestScheduleIsGreedy(t *testing.T) {
	r, spend := pretended(4)
	section := r.Begin()
	for i := range 20 {
		spend(time.Duration(i * i % 7))
		must.Do(t, r.Do(t.Context(), 1+i%5, func(_ context.Context, k int) error {
			spend(time.Duration(k * i % 11))
			forkOf(t, r, spend, time.Duration(i), time.Duration(k), 3)
			spend(1)
			return nil
		}))
	}
	trace := section.End()
	for cpus := 1; cpus < 40; cpus++ {
		s, n := trace.Schedule(cpus), time.Duration(cpus)
		if s.Time < trace.Span() || n*s.Time < trace.Work() || n*s.Time > trace.Work()+(n-1)*trace.Span() {
			t.Errorf("%d processors: %v, with %v of work and a span of %v", cpus, s.Time, trace.Work(), trace.Span())
		}
	}
}

// alone and far are functions that a Schedule must name.
func alone(spend func(time.Duration)) { spend(100) }

func far(t *testing.T, r *Recorder, spend func(time.Duration)) {
	forkOf(t, r, spend, 1, 1)
	alone(spend)
	forkOf(t, r, spend, 1, 1)
}

func TestWhereOneProcessorIsBusy(t *testing.T) {
	r, spend := pretended(2)
	section := r.Begin()
	spend(7)
	far(t, r, spend)
	must.Do(t, r.Do(t.Context(), 2, func(_ context.Context, i int) error { // the second is alone for 30, of which 20 are in far
		spend(10)
		if i == 1 {
			spend(20)
			forkOf(t, r, spend, 4, 4)
			spend(40)
		}
		return nil
	}))
	places := section.End().Schedule(2).Alone
	for i, want := range []Stretch{
		{Function: "executor.far", Time: 100},
		{Function: "executor.TestWhereOneProcessorIsBusy.func1", Time: 40},
		{Function: "executor.TestWhereOneProcessorIsBusy.func1", Time: 20},
		{Function: "executor.forkOf", Time: 7}, // which called Do first
	} {
		got := places[i]
		if lines, found := strings.CutPrefix(got.Lines, "recorder_test.go:"); !found || lines == "" {
			t.Errorf("place %d: lines %q", i, got.Lines)
		}
		got.Lines = ""
		golden.Equal(t, fmt.Sprintf("place %d", i), want, got)
	}
	if places[1].Lines == places[2].Lines {
		t.Errorf("the task's beginning and end are both %s", places[1].Lines)
	}
	golden.Equal(t, "places on one processor", 0, len(section.recorder.Begin().End().Schedule(1).Alone))
}

func TestSections(t *testing.T) {
	r, spend := pretended(2)
	outer := r.Begin()
	spend(1)
	inner := r.Begin()
	forkOf(t, r, spend, 2, 2)
	var across *Section
	forkOf(t, r, spend, 0)
	must.Do(t, r.Do(t.Context(), 2, func(context.Context, int) error {
		across = r.Begin()
		own := r.Begin()
		spend(5)
		golden.Equal(t, "in a task", 5, own.End().Work())
		return nil
	}))
	first := inner.End()
	golden.Equal(t, "inner", 14, first.Work())
	golden.Equal(t, "span of inner", 7, first.Span())
	spend(3)
	for _, s := range []*Section{inner, across} {
		if s.End() != nil {
			t.Error("a section that has ended, or was begun in another task, has a trace")
		}
	}
	golden.Equal(t, "outer", 18, outer.End().Work())
	if outer.End() != nil {
		t.Error("the outer section ended twice")
	}
}

// TestPlacesInLoops: a stretch from the end of a loop's body to its beginning is not said to be between the two lines.
func TestPlacesInLoops(t *testing.T) {
	r, spend := pretended(2)
	section := r.Begin()
	for range 2 {
		forkOf(t, r, spend, 0, 0)
		forkOf(t, r, spend, 0, 0)
		spend(50)
	}
	found := false
	for _, one := range section.End().Schedule(2).Alone {
		if one.Time == 50 && strings.HasSuffix(one.Lines, " (loop)") && one.Function == "executor.TestPlacesInLoops" {
			found = true
		}
	}
	if !found {
		t.Error("no stretch goes around the loop")
	}
}

// TestPlacesOfRanges: tasks of Ranges are named by the function that it was given.
func TestPlacesOfRanges(t *testing.T) {
	r, spend := pretended(2)
	section := r.Begin()
	must.Do(t, Ranges(t.Context(), r, 2, 1, func(_ context.Context, lo, _ int) error {
		spend(time.Duration(10 + 30*lo))
		return nil
	}))
	must.Do(t, Ranges(t.Context(), r, 2, 1, func(_ context.Context, lo, _ int) error {
		spend(time.Duration(100 * lo))
		forkOf(t, r, spend, 1)
		return nil
	}))
	places := section.End().Schedule(2).Alone
	golden.Equal(t, "before a fork", "executor.TestPlacesOfRanges.func2", places[0].Function)
	golden.Equal(t, "without a fork", "executor.TestPlacesOfRanges.func1", places[1].Function)
}

// TestWaitedAndElsewhere: a trace tells how much of the operation it does not contain.
func TestWaitedAndElsewhere(t *testing.T) {
	r := NewRecorder(2)
	section := r.Begin()
	time.Sleep(50 * time.Millisecond)
	slept := section.End()
	if slept.Work() > 25*time.Millisecond || slept.Waited() < 25*time.Millisecond {
		t.Errorf("%v at work and %v waiting in a sleep of 50 ms", slept.Work(), slept.Waited())
	}
	if runtime.GOOS != "linux" {
		return
	}
	section = r.Begin()
	done := make(chan int)
	go func() {
		sum := 0
		for begun := time.Now(); time.Since(begun) < 100*time.Millisecond; sum++ {
		}
		done <- sum
	}()
	<-done
	if other := section.End(); other.Elsewhere() < 10*time.Millisecond {
		t.Errorf("%v elsewhere beside a goroutine that worked", other.Elsewhere())
	}
}

// TestRecordingIsNotWaiting: what recording itself takes is neither waited for nor done elsewhere, but for the one
// reading of the thread's clock that Begin makes after the process's. Each takes 20 times as long as a task here.
func TestRecordingIsNotWaiting(t *testing.T) {
	const reading = 200 * time.Microsecond
	r, spend := pretended(2)
	now := r.clock
	r.clock = func() time.Duration {
		spend(reading)
		return now()
	}
	section := r.Begin()
	for range 100 {
		forkOf(t, r, spend, 10*time.Microsecond)
		for range 3 {
			r.Begin().End()
		}
	}
	trace := section.End()
	golden.Equal(t, "waited", 0, trace.Waited())
	golden.Equal(t, "elsewhere", reading, trace.Elsewhere())
}

// TestOtherGoroutinesDoNothing: on other goroutines Begin and End do nothing, also for goroutines that began before the
// recording and go on during it; a Recorder whose goroutine has ended records no more.
func TestOtherGoroutinesDoNothing(t *testing.T) {
	r := NewRecorder(3)
	ask, answer := make(chan bool), make(chan *Trace)
	go func() {
		for range ask {
			s := r.Begin()
			_ = r.Do(t.Context(), 5, func(context.Context, int) error { return nil })
			Cut(r, 100, 1)
			answer <- s.End()
		}
	}()
	ask <- true
	if (<-answer) == nil {
		t.Error("no trace of a goroutine that recorded alone")
	}
	section := r.Begin()
	for range 3 {
		ask <- true
		must.Do(t, r.Do(t.Context(), 2, func(context.Context, int) error { return nil }))
		if (<-answer) != nil {
			t.Error("a trace from another goroutine")
		}
	}
	golden.Equal(t, "calls of Do", 3, len(r.strand.forks))
	close(ask)
	section.End()
	gone := make(chan bool)
	go func() {
		defer close(gone)
		r.Begin()
		runtime.Goexit()
	}()
	<-gone
	if r.Begin().End() != nil {
		t.Error("a trace, though another goroutine never ended its section")
	}
}

func TestNoTasks(t *testing.T) {
	r := NewRecorder(2)
	section := r.Begin()
	for _, n := range []int{0, -1} {
		must.Do(t, r.Do(t.Context(), n, func(context.Context, int) error { return errors.New("a task") }))
	}
	golden.Equal(t, "calls of Do", 0, len(r.strand.forks))
	section.End()
}

// TestOtherGoroutines: what another goroutine does is not in the trace.
func TestOtherGoroutines(t *testing.T) {
	r := NewRecorder(3)
	section := r.Begin()
	done := make(chan error)
	go func() {
		done <- r.Do(t.Context(), 3, func(context.Context, int) error { return nil })
	}()
	must.Do(t, <-done)
	golden.Equal(t, "calls of Do", 0, len(r.strand.forks))
	must.Do(t, r.Do(t.Context(), 3, func(context.Context, int) error { return nil }))
	golden.Equal(t, "calls of Do", 1, len(r.strand.forks))
	section.End()
	must.Do(t, r.Do(t.Context(), 3, func(context.Context, int) error { return nil }))
}

// TestRecordedLikeSerial: a Recorder runs tasks in the order of Serial, with its errors, while it records and after an
// error or a panic.
func TestRecordedLikeSerial(t *testing.T) {
	cause := errors.New("task 2 failed")
	run := func(ex Executor) (order []int, err error) {
		err = ex.Do(t.Context(), 5, func(_ context.Context, i int) error {
			order = append(order, i)
			switch {
			case i == 1:
				nested := ex.Do(t.Context(), 3, func(_ context.Context, k int) error {
					order = append(order, 10+k)
					if k == 1 {
						panic("in a task")
					}
					return nil
				})
				if _, ok := errors.AsType[*PanicError](nested); !ok {
					t.Errorf("%s: %v after a panic", ex.Name(), nested)
				}
			case i == 2:
				return cause
			}
			return nil
		})
		return order, err
	}
	r := NewRecorder(2)
	section := r.Begin()
	want, _ := run(Serial())
	got, err := run(r)
	must.Fail(t, err, cause, "Do")
	golden.Equal(t, "order", fmt.Sprint(want), fmt.Sprint(got))
	golden.Equal(t, "tasks of the failed call", 3, len(r.strand.forks[0]))
	if section.End() == nil {
		t.Error("no trace after an error")
	}
}
