package measure

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"runtime/coverage"
	"runtime/debug"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/workload"
)

// countHeap is the memory limit while operations are counted: no garbage collection runs before the
// heap has reached it. A collection empties pools, and filling them again executes statements.
const countHeap = 4 << 30

// Count runs s.Count operations of the case, one after the other. It writes to the directory dir
// how often these operations executed each statement of the program, in the coverage format of the
// go command. The inputs and the randomness depend only on the seed. If the program was not built
// with coverage counters, the returned record has the status "failed" and the error
// zkbench.ErrEnv.
func Count(ctx context.Context, def workload.Def, c workload.Case, s Settings, dir string) *record.Record {
	s.Workers, s.Arrivals = 1, nil
	rec := s.New(def.Name, c)
	conclude(ctx, rec, protect(func() error { return count(ctx, def, c, s, dir, rec) }))
	return rec
}

func count(ctx context.Context, def workload.Def, c workload.Case, s Settings, dir string, rec *record.Record) (err error) {
	// What a system draws decides how many digits of a scalar are zero; goroutines that run at
	// once find other pools.
	defer func(r interface{ Read([]byte) (int, error) }) { rand.Reader = r }(rand.Reader)
	rand.Reader = workload.Random(s.Seed, countStream)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))

	instance, err := setUp(workload.WithSRS(ctx, s.srs()), def, c, int(s.Count), 1, s.Seed)
	if err != nil {
		return fmt.Errorf("set-up: %w", err)
	}
	defer func() {
		if closing := instance.Close(); closing != nil {
			err = errors.Join(err, fmt.Errorf("close: %w", closing))
		}
	}()
	inputs := make([]any, s.Count)
	for i := range inputs {
		if inputs[i], err = instance.Input(ctx, uint64(i)); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	run := func(i int) ([]byte, error) {
		output, err := runner.Recover(func() ([]byte, error) { return instance.Run(ctx, inputs[i]) })
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		return output, ctx.Err()
	}
	output, err := run(0) // fills caches, so that their making is not counted
	if err != nil {
		return err
	}
	if err := instance.Check(ctx, inputs[0], output); err != nil {
		return fmt.Errorf("operation 0: wrong result: %w", err)
	}
	if err := coverage.WriteMetaDir(dir); err != nil {
		return fmt.Errorf("%w: counts: %w", zkbench.ErrEnv, err)
	}
	runtime.GC()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(countHeap))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if err := coverage.ClearCounters(); err != nil {
		return fmt.Errorf("%w: counts: %w", zkbench.ErrEnv, err)
	}
	for i := range inputs {
		if _, err := run(i); err != nil {
			return err
		}
	}
	if err := coverage.WriteCountersDir(dir); err != nil {
		return fmt.Errorf("%w: counts: %w", zkbench.ErrEnv, err)
	}
	rec.Counters = append(rec.Counters, record.Counter{Name: record.CountDone, Value: s.Count})
	return nil
}

// countStream numbers the random stream, derived from the seed, that systems draw from. No input
// has this number.
const countStream = 1 << 63
