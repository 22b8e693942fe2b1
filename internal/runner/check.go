package runner

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"

	"github.com/zkbench/zkbench/internal/meter"
	"github.com/zkbench/zkbench/internal/record"
)

// kept is a result that waits for its check.
type kept struct {
	seq    uint64
	output []byte
	probe  *result // of the probe; nil: of the operation seq
}

// inWarmup tells whether the operation was begun before the window.
func (k kept) inWarmup() bool { return k.probe != nil || ticket{seq: k.seq}.inWarmup() }

// waiting are the results that wait for their check, those of the window first. The first of the
// probe has been checked.
func (r *run) waiting() iter.Seq[kept] {
	return func(yield func(kept) bool) {
		for _, of := range []func(s *shard) *keeper{
			func(s *shard) *keeper { return &s.kept },
			func(s *shard) *keeper { return &s.warm },
		} {
			for _, s := range r.shards {
				keeper := of(s)
				for i := range keeper.n {
					seq, output := keeper.result(i)
					if !yield(kept{seq: seq, output: output}) {
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

// result is the result with its input, which is built again where the operation built its own.
func (r *run) result(ctx context.Context, k kept) (result, error) {
	if k.probe != nil {
		return *k.probe, nil
	}
	if n := uint64(len(r.inputs)); n > 0 {
		return result{r.inputs[k.seq%n], k.output}, nil
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

// check checks the results that were kept, on all processors. It stops when ctx
// ends: Checked says how far it came.
func (r *run) check(ctx context.Context) {
	if r.cfg.Check.Policy == CheckNone {
		return
	}
	stage := r.cfg.Stages.Start("check")
	defer func() { stage.End() }()
	work := make(chan kept)
	labelled := meter.Labelled(ctx, "check")
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
feed:
	for k := range r.waiting() {
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

// doubt doubts the case itself, once all its results are found right: a check that accepts
// whatever it is given, and operations that change what they take.
func (r *run) doubt(ctx context.Context) {
	if r.res.Done == 0 || r.res.Checked == 0 || r.res.CheckFailed > 0 || r.res.WarmupBad > 0 {
		return
	}
	r.res.Doubts, _, _ = interruptible(ctx, func() (found []record.Finding, _ error) {
		for k := range r.waiting() {
			if len(k.output) == 0 {
				continue
			}
			if one, err := r.result(ctx, k); err == nil {
				found = append(found, doubtCheck(ctx, r.target, one)...)
			}
			break
		}
		if r.comparable() {
			found = append(found, doubtInput(ctx, r.target, 0, r.inputs[0])...)
		}
		return found, nil
	})
}

// Doubt doubts an operation whose input seq has been used, and whose output for it was found
// right.
func Doubt(ctx context.Context, target Target, seq uint64, used any, output []byte) []record.Finding {
	var found []record.Finding
	if len(output) > 0 {
		found = doubtCheck(ctx, target, result{used, output})
	}
	return append(found, doubtInput(ctx, target, seq, used)...)
}

// largestAgain is the greatest input that is made again, in bytes.
const largestAgain = 256 << 20

// comparable tells whether the first input can be made again and compared: operations have used
// it and none still does, and it takes neither longer than the window nor much memory.
func (r *run) comparable() bool {
	n := uint64(len(r.inputs))
	return n > 0 && len(r.res.Unfinished) == 0 && len(r.res.Outlasting) == 0 &&
		r.eachInput <= r.res.Window && r.res.Usage.HeapLive/n <= largestAgain
}

// Findings of a case that is doubtful in itself.
const (
	AnyResult    = "any-result"
	InputChanged = "input-changed"
)

// changes are how many changed results a check may accept, each changed in another place:
// encodings have bytes that mean nothing.
const changes = 4

// doubtCheck shows the check of an operation changed results, and finds one that refuses none
// of them. The result has at least one byte, and was found right.
func doubtCheck(ctx context.Context, target Target, right result) []record.Finding {
	for i := range changes {
		changed := result{right.input, slices.Clone(right.output)}
		changed.output[len(changed.output)*(i+1)/(changes+1)] ^= 1
		if _, err := Protect(func() (struct{}, error) { return struct{}{}, changed.check(ctx, target) }); err != nil {
			return nil
		}
	}
	return []record.Finding{{Name: AnyResult, Text: fmt.Sprintf("the check accepts a result of %d bytes that was changed in any of %d places: it cannot tell a right result from a wrong one", len(right.output), changes)}}
}

// doubtInput makes the input seq again and compares it with the one that operations have used.
// It finds nothing of inputs that differ each time they are made.
func doubtInput(ctx context.Context, target Target, seq uint64, used any) []record.Finding {
	again := func() any {
		input, _ := Protect(func() (any, error) { return target.Input(ctx, seq) })
		return input
	}
	first := again()
	if first == nil || reflect.DeepEqual(used, first) || !reflect.DeepEqual(first, again()) {
		return nil
	}
	return []record.Finding{{Name: InputChanged, Text: fmt.Sprintf("operations changed their input: input %d is no longer what it was when it was made, so that all but the first of each input ran on another one", seq)}}
}
