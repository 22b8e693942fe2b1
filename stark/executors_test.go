package stark_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// zeroed returns configurations with and without zero knowledge.
func zeroed() (all []stark.Config) {
	for _, c := range []stark.Config{
		{Field: stark.Goldilocks, Hash: stark.Keccak, Params: small(2, 3)},
		{Field: stark.KoalaBear, Hash: stark.Keccak, Params: small(4, 1)},
	} {
		all = append(all, c)
		c.Params.ZeroKnowledge = true
		all = append(all, c)
	}
	return all
}

// TestExecutors: a proof has the same bytes from every executor and for any number of processors. The higher
// table has so many rows that all loops over rows have several tasks.
func TestExecutors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	executors := func(c stark.Config, tables []*air.Table, columns []stark.Trace, about stark.Statement) {
		s := must.Get(stark.New(c, tables...))(t)
		prove := func(ex executor.Executor) []byte {
			options := stark.Options{Rand: rand.NewChaCha8([32]byte{1})}
			return must.Get(s.Prove(t.Context(), ex, columns, about, options))(t)
		}
		want := prove(executor.Serial())
		must.Do(t, s.Verify(want, about))
		for _, procs := range []int{1, 2, 3, 16} {
			runtime.GOMAXPROCS(procs)
			if !bytes.Equal(want, prove(executor.Pool())) {
				t.Errorf("%s, %s, zk=%t: another proof on %d processors than serially", c.Field, c.Hash, c.Params.ZeroKnowledge, procs)
			}
		}
		recorder := executor.NewRecorder(16)
		section := recorder.Begin()
		if !bytes.Equal(want, prove(recorder)) {
			t.Errorf("%s, %s, zk=%t: another proof than serial while it is recorded", c.Field, c.Hash, c.Params.ZeroKnowledge)
		}
		if section.End().Work() == 0 {
			t.Error("nothing was recorded")
		}
	}
	for _, c := range zeroed() {
		columns, about := traces(1<<10, c.Params.Random())
		executors(c, []*air.Table{squares(), walk()}, columns, about)
		if !c.Params.ZeroKnowledge {
			form := slices.Clone(stark.MixedForms[0])
			form[0] = 1 << 13
			columns, about = stark.MixedTraces(form, 40, nil)
			executors(c, stark.MixedTables(40, nil), columns, about)
		}
	}
}

// stopping is an executor that cancels before a task and counts the tasks that begin.
type stopping struct {
	executor.Executor
	cancel context.CancelFunc
	begun  int
	last   int // after so many tasks it cancels; 0: never
}

func (s *stopping) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	return s.Executor.Do(ctx, n, func(ctx context.Context, i int) error {
		if s.begun++; s.begun == s.last {
			s.cancel()
		}
		return task(ctx, i)
	})
}

// TestCancel: once a proof is cancelled no task begins any more, wherever it is, and Prove says so.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, c := range zeroed()[:2] {
		s := must.Get(stark.New(c, squares(), walk()))(t)
		columns, about := traces(1<<6, c.Params.Random())
		run := func(last int) (*stopping, error) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ex := &stopping{Executor: executor.Serial(), cancel: cancel, last: last}
			_, err := s.Prove(ctx, ex, columns, about, stark.Options{Rand: rand.NewChaCha8([32]byte{1})})
			return ex, err
		}
		whole, err := run(0)
		must.Do(t, err)
		for last := 1; last < whole.begun; last += max(1, whole.begun/30) {
			ex, err := run(last)
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("cancelled in task %d of %d: %v", last, whole.begun, err)
			}
			golden.Equal(t, fmt.Sprintf("tasks begun, cancelled in %d", last), last, ex.begun)
		}
	}
}
