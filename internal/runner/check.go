package runner

import (
	"context"
	"iter"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/zkbench/zkbench/internal/runner/resources"
)

// kept is a result that is to be checked.
type kept struct {
	seq    uint64
	output []byte
	probe  *result // a result of the probe; nil: the result of operation seq
}

// inWarmup reports whether the operation began before the window.
func (k kept) inWarmup() bool { return k.probe != nil || ticket{seq: k.seq}.inWarmup() }

// waiting yields the results that are to be checked, the window's first. It leaves out the
// probe's first result, which has been checked already.
func (r *run) waiting() iter.Seq[kept] {
	return func(yield func(kept) bool) {
		for _, keeperOf := range []func(s *shard) *keeper{
			func(s *shard) *keeper { return &s.kept },
			func(s *shard) *keeper { return &s.warm },
		} {
			for _, s := range r.shards {
				keeper := keeperOf(s)
				for i := range keeper.n {
					if seq, output, ok := keeper.result(i); ok && !yield(kept{seq: seq, output: output}) {
						return
					}
				}
			}
		}
		for i := 1; i < len(r.results); i++ {
			if !yield(kept{output: r.results[i].output, probe: &r.results[i]}) {
				return
			}
		}
	}
}

// result returns the result with its input. If the operation built its own input, result builds
// it again.
func (r *run) result(ctx context.Context, k kept) (result, error) {
	if k.probe != nil {
		return *k.probe, nil
	}
	if len(r.inputs) > 0 {
		return result{r.inputs[r.index(k.seq)], k.output}, nil
	}
	input, err := r.target.Input(ctx, k.seq)
	return result{input, k.output}, err
}

func (r *run) checkOne(ctx context.Context, k kept) error {
	one, err := r.result(ctx, k)
	if err != nil {
		return err
	}
	return one.check(ctx, r.target)
}

// leastWarmupCheck is the time limit for checks of the warm-up's results, unless those of the
// window took longer.
const leastWarmupCheck = time.Second

// check checks the kept results on all processors. It stops when ctx ends; Checked counts the
// results that were checked by then.
func (r *run) check(ctx context.Context) {
	if r.cfg.Check.Policy == CheckNone {
		return
	}
	stage := r.cfg.Stages.Start("check")
	defer func() { stage.End() }()
	work := make(chan kept)
	labelled := resources.Labelled(ctx, "check")
	var seen struct {
		sync.Mutex
		checked, bad             uint64 // of the window
		warmupChecked, warmupBad uint64
		first                    error
	}
	seen.warmupChecked = uint64(min(len(r.results), 1))
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			pprof.SetGoroutineLabels(labelled)
			for k := range work {
				_, err := Protect(func() (struct{}, error) { return struct{}{}, r.checkOne(labelled, k) })
				if err != nil && ctx.Err() != nil {
					return // cancelled, so it says nothing about the result
				}
				seen.Lock()
				checked, bad := &seen.checked, &seen.bad
				if k.inWarmup() {
					checked, bad = &seen.warmupChecked, &seen.warmupBad
				}
				*checked++
				if err != nil {
					if *bad++; seen.first == nil {
						seen.first = err
					}
				}
				seen.Unlock()
			}
		})
	}
	begin, enough := r.clock(), never
feed:
	for k := range r.waiting() {
		if k.inWarmup() && enough == never {
			enough = r.clock() + max(r.clock()-begin, leastWarmupCheck)
		}
		if r.cfg.Check.Policy != CheckAll && r.clock() > enough {
			break
		}
		select {
		case work <- k:
		case <-ctx.Done():
			break feed
		}
	}
	close(work)
	_, _, ended := interruptible(ctx, func() (struct{}, error) { wg.Wait(); return struct{}{}, nil })
	if !ended {
		r.arenas = nil // a check that was left behind may still read them
	}
	seen.Lock()
	defer seen.Unlock()
	r.res.Checked, r.res.CheckFailed, r.res.CheckErr = seen.checked, seen.bad, seen.first
	r.res.WarmupChecked, r.res.WarmupBad = seen.warmupChecked, seen.warmupBad
}
