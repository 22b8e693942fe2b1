package stark

import (
	"context"
	"sync"

	"github.com/zkbench/zkbench/executor"
)

// Work is split into tasks by its size, not by the number of processors, so that proofs take the same steps on
// all machines. A task takes between some 20 microseconds and a few milliseconds. That is long compared with
// starting a task, and short compared with a proof on many processors.

// chunk is the number of rows of one task that makes a few passes over vectors.
const chunk = 1 << 12

// chunks runs work in tasks of ex, for chunks of n rows.
func chunks(ctx context.Context, ex executor.Executor, n int, work func(from, to int)) error {
	return each(ctx, ex, 1, n, func(_, from, to int) { work(from, to) })
}

// each runs work in tasks of ex, for chunks of n rows of each of a number of vectors.
func each(ctx context.Context, ex executor.Executor, vectors, n int, work func(vector, from, to int)) error {
	pieces := (n + chunk - 1) / chunk
	return ex.Do(ctx, vectors*pieces, func(_ context.Context, i int) error {
		from := i % pieces * chunk
		work(i/pieces, from, min(from+chunk, n))
		return nil
	})
}

// tiles runs work in tasks of ex, one for each tile of the given number of rows, or one for all rows if they
// are fewer. A task gets scratch that no other task uses at the same time.
func tiles[S any](ctx context.Context, ex executor.Executor, rows, size int, scratch *scratches[S], work func(s S, lo int) error) error {
	return ex.Do(ctx, max(1, rows/size), func(_ context.Context, i int) error {
		s := scratch.take()
		err := work(s, i*size)
		scratch.give(s)
		return err
	})
}

// scratches holds scratch that no task uses now, and makes more if there is none. So there is as much of it as
// tasks run at once. Unlike a sync.Pool, it keeps all of it: the scratch of a machine takes long to make.
type scratches[S any] struct {
	make func() S
	mu   sync.Mutex
	free []S
}

func (l *scratches[S]) take() S {
	if s, ok := l.pop(); ok {
		return s
	}
	return l.make()
}

func (l *scratches[S]) pop() (s S, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.free)
	if n == 0 {
		return s, false
	}
	s, l.free = l.free[n-1], l.free[:n-1]
	return s, true
}

func (l *scratches[S]) give(s S) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, s)
}
