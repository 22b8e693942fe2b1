package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// sizes returns the number of entries of each call.
func sizes(calls []*store.Call) (n []int) {
	for _, c := range calls {
		entries := 0
		for range c.Entries() {
			entries++
		}
		n = append(n, entries)
	}
	return n
}

func batchOf(n int) []ledger.Entry {
	batch := make([]ledger.Entry, n)
	for i := range batch {
		batch[i] = ledger.Entry{Anchor: fmt.Append(nil, i)}
	}
	return batch
}

// TestQueue: calls that wait share the next commit up to the limits of a batch,
// in their order; a cancelled one takes no part; a commit's error is that of all.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("failure")
		var groups [][]int
		release := make(chan error)
		q := store.NewQueue(func(calls []*store.Call) error {
			groups = append(groups, sizes(calls))
			return <-release
		})
		results := map[int]chan error{}
		ctx, cancel := context.WithCancel(t.Context())
		for _, n := range []int{1, 2, 7, ledger.MaxBatch - 9, 3, ledger.MaxBatch - 3, 4} {
			results[n] = make(chan error, 1)
			of := t.Context()
			if n == 7 {
				of = ctx
			}
			go func() { results[n] <- q.Apply(of, batchOf(n)) }()
			synctest.Wait() // so that they come in this order
		}
		cancel()
		must.Fail(t, <-results[7], context.Canceled, "cancelled")
		release <- nil
		release <- failure
		release <- nil
		release <- nil
		synctest.Wait()
		want := [][]int{{1}, {2, ledger.MaxBatch - 9, 3}, {ledger.MaxBatch - 3}, {4}}
		golden.Equal(t, "groups", want, groups)
		for n, want := range map[int]error{1: nil, 2: failure, ledger.MaxBatch - 9: failure, 3: failure, ledger.MaxBatch - 3: nil, 4: nil} {
			must.Fail(t, <-results[n], want, "batch of %d", n)
		}
	})
}

// TestLeavingQueue: a caller whose context ends while a commit has its call does not
// know the outcome, but the last, for whom the commit is called back; who waits for
// the next commit is withdrawn.
func TestLeavingQueue(t *testing.T) {
	for name, stays := range map[string]bool{"all go": false, "one stays": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan error)
				q := store.NewLeavingQueue(func(ctx context.Context, calls []*store.Call) error {
					defer func() {
						for e := range calls[0].Entries() {
							golden.Equal(t, "anchor that was applied", []byte("0"), e.Anchor)
							break
						}
					}()
					select {
					case err := <-release:
						return err
					case <-ctx.Done():
						return fmt.Errorf("called back: %w", context.Cause(ctx))
					}
				})
				apply := func(ctx context.Context, n int) chan error {
					result := make(chan error, 1)
					go func() {
						batch := batchOf(n)
						err := q.Apply(ctx, batch)
						batch[0].Anchor[0] = '?' // which is the caller's own again
						result <- err
					}()
					synctest.Wait()
					return result
				}
				first := apply(t.Context(), 1)
				a, cancelA := context.WithCancel(t.Context())
				b, cancelB := context.WithTimeout(t.Context(), time.Second)
				defer cancelB()
				inA, inB := apply(a, 2), apply(b, 3)
				stayer := make(chan error, 1)
				if stays {
					stayer = apply(t.Context(), 4)
				}
				release <- nil
				must.Do(t, <-first)
				synctest.Wait()
				if err := <-apply(brief(t), 5); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, zkbench.ErrOutcomeUnknown) {
					t.Errorf("who waited: %v", err)
				}
				cancelA()
				if err := <-inA; !errors.Is(err, zkbench.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
					t.Errorf("the first to go: %v", err)
				}
				err := <-inB
				if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, zkbench.ErrOutcomeUnknown) != stays {
					t.Errorf("the second to go: %v", err)
				}
				if stays {
					if len(stayer) > 0 {
						t.Error("called back, and wanted")
					}
					release <- nil
					must.Do(t, <-stayer, "who stayed")
				}
				must.Do(t, q.Idle(t.Context()))
			})
		})
	}
}

// brief returns a context that ends before anything that takes a second.
func brief(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}
