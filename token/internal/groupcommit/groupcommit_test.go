package groupcommit_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/token/internal/groupcommit"
)

// store has a queue of numbers whose sum in one transaction is at most 10.
type store struct {
	*groupcommit.Queue[int]
	groups  [][]int
	release chan struct{} // ends a commit
}

func newStore() *store {
	s := &store{release: make(chan struct{})}
	s.Queue = groupcommit.New(
		func(jobs []int) int {
			sum := 0
			for i, n := range jobs {
				if sum += n; sum > 10 {
					return i
				}
			}
			return len(jobs)
		},
		func(jobs []int) {
			s.groups = append(s.groups, jobs)
			<-s.release
		})
	return s
}

// start begins to do n, and returns when the job waits or is being committed.
func (s *store) start(ctx context.Context, n int) chan bool {
	done := make(chan bool, 1)
	go func() { done <- s.Do(ctx, n) }()
	synctest.Wait()
	return done
}

// answered says whether there is an answer already.
func answered(done chan bool) bool {
	synctest.Wait()
	return len(done) > 0
}

// TestGroups: jobs that wait share the next commit as far as they fit, in their order,
// one that fits nowhere alone; a withdrawn one takes no part; each has its answer when
// its commit is over.
func TestGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		ctx, cancel := context.WithCancel(t.Context())
		results := map[int]chan bool{}
		for _, n := range []int{1, 2, 7, 3, 5, 4, 6, 11} {
			of := t.Context()
			if n == 7 {
				of = ctx
			}
			results[n] = s.start(of, n)
		}
		cancel()
		if <-results[7] {
			t.Error("withdrawn, and done")
		}
		want := [][]int{{1}, {2, 3, 5}, {4, 6}, {11}}
		for _, group := range want {
			for _, n := range group {
				if answered(results[n]) {
					t.Errorf("%d: answered before it was committed", n)
				}
			}
			s.release <- struct{}{}
			for _, n := range group {
				if !<-results[n] {
					t.Errorf("%d: not done", n)
				}
			}
		}
		golden.Equal(t, "groups", want, s.groups)
	})
}

// TestContext: a context that has ended keeps a job out; one that ends while the job is
// being committed, by its own caller or another, changes nothing.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		ctx, cancel := context.WithCancel(t.Context())
		first := s.start(ctx, 10)
		second, third := s.start(ctx, 5), s.start(t.Context(), 4)
		s.release <- struct{}{}
		if !<-first {
			t.Error("the first is not done")
		}
		synctest.Wait() // the second and the third are being committed
		cancel()
		if answered(second) {
			t.Error("answered before it was committed")
		}
		s.release <- struct{}{}
		if !<-second || !<-third {
			t.Error("what was being committed is not done")
		}
		if s.Do(ctx, 1) {
			t.Error("done for a caller who had gone")
		}
		golden.Equal(t, "groups", [][]int{{10}, {5, 4}}, s.groups)
	})
}

// TestExclusive: nothing is committed meanwhile, what waits can be withdrawn, and what
// has come is committed afterwards.
func TestExclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		ctx, cancel := context.WithCancel(t.Context())
		var stays chan bool
		s.Exclusive(func() {
			leaves := s.start(ctx, 1)
			stays = s.start(t.Context(), 2)
			cancel()
			if <-leaves {
				t.Error("withdrawn, and done")
			}
			if answered(stays) || len(s.groups) > 0 {
				t.Errorf("committed meanwhile: %v", s.groups)
			}
		})
		s.release <- struct{}{}
		if !<-stays {
			t.Error("not done afterwards")
		}
		entered := make(chan struct{})
		running := s.start(t.Context(), 3)
		go s.Exclusive(func() { close(entered) })
		synctest.Wait()
		select {
		case <-entered:
			t.Error("exclusive while a commit runs")
		default:
		}
		s.release <- struct{}{}
		<-entered
		if !<-running {
			t.Error("not done before")
		}
	})
}

// leave begins to do n for a caller who may leave, as start does.
func (s *store) leave(ctx context.Context, n int) chan groupcommit.Outcome {
	done := make(chan groupcommit.Outcome, 1)
	go func() { done <- s.DoOrLeave(ctx, n) }()
	synctest.Wait()
	return done
}

// TestLeave: of the callers of a commit those whose contexts end leave at once, but
// the last; who waits for the next is withdrawn; who stays has the answer.
func TestLeave(t *testing.T) {
	for name, test := range map[string]struct {
		stays bool // the third caller
		last  groupcommit.Outcome
	}{
		"all go":    {false, groupcommit.Done},
		"one stays": {true, groupcommit.Left},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore()
				first := s.leave(t.Context(), 10)
				var of []chan groupcommit.Outcome
				var cancels []func()
				for range 3 {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					of, cancels = append(of, s.leave(ctx, 2)), append(cancels, cancel)
				}
				s.release <- struct{}{}
				golden.Equal(t, "the first", groupcommit.Done, <-first)
				synctest.Wait() // the three are being committed
				ctx, cancel := context.WithCancel(t.Context())
				waiting := s.leave(ctx, 1)
				cancel()
				golden.Equal(t, "who waited", groupcommit.Withdrawn, <-waiting)
				if !test.stays {
					cancels[2]()
					golden.Equal(t, "the third", groupcommit.Left, <-of[2])
				}
				cancels[0]()
				golden.Equal(t, "the first of them", groupcommit.Left, <-of[0])
				cancels[1]()
				synctest.Wait()
				golden.Equal(t, "the second is answered", test.stays, len(of[1]) > 0)
				s.release <- struct{}{}
				golden.Equal(t, "the second", test.last, <-of[1])
				if test.stays {
					golden.Equal(t, "the third", groupcommit.Done, <-of[2])
				}
				golden.Equal(t, "groups", [][]int{{10}, {2, 2, 2}}, s.groups)
			})
		})
	}
}

// TestPanic: a commit that panics, or ends its goroutine, is a panic of all who wait
// for it; the next goes on.
func TestPanic(t *testing.T) {
	for name, test := range map[string]struct {
		bad  func()
		says string
	}{
		"panic":  {func() { panic("as asked") }, "as asked"},
		"goexit": {runtime.Goexit, "has ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bad := true
				q := groupcommit.New(func(jobs []int) int { return len(jobs) }, func([]int) {
					if bad {
						bad = false
						test.bad()
					}
				})
				panics := make(chan any, 2)
				do := func(work func()) {
					defer func() { panics <- recover() }()
					work()
				}
				q.Exclusive(func() { // so that they share a commit
					go do(func() { q.Do(t.Context(), 1) })
					go do(func() { q.Do(t.Context(), 2) })
					synctest.Wait()
				})
				for range 2 {
					if got := fmt.Sprint(<-panics); !strings.Contains(got, test.says) {
						t.Errorf("%s, want %s", got, test.says)
					}
				}
				if !q.Do(t.Context(), 3) {
					t.Error("the next is not done")
				}
			})
		})
	}
}

// TestIdle: who waits for the end of a commit comes after it, or goes with its context.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		if !s.Idle(t.Context()) {
			t.Error("not idle")
		}
		first := s.start(t.Context(), 10)
		second := s.start(t.Context(), 10)
		idle := make(chan bool, 1)
		go func() { idle <- s.Idle(t.Context()) }()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s.Idle(ctx) || answered(idle) {
			t.Error("idle while a commit runs")
		}
		s.release <- struct{}{}
		<-first
		s.release <- struct{}{}
		if !<-second || !<-idle {
			t.Error("not idle afterwards")
		}
	})
}
