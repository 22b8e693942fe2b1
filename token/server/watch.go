package server

import (
	"context"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/rpc"
)

// watch tells those who wait that a ledger may have changed. What this process writes it tells at once; what others write
// to the same database it finds by asking the ledger at intervals, while somebody waits.
type watch struct {
	look     func(ctx context.Context) (mark string, err error) // another mark after each change
	interval time.Duration

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	waiting int
	mark    string
	wake    chan struct{} // closed when nobody waits any more
}

func newWatch(interval time.Duration, look func(ctx context.Context) (string, error)) *watch {
	return &watch{look: look, interval: interval, changed: make(chan struct{})}
}

// tell wakes all who wait.
func (w *watch) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

// join counts a caller that waits until leave is called.
func (w *watch) join() (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting++; w.waiting == 1 {
		w.wake = make(chan struct{})
		go w.poll(w.wake)
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.waiting--; w.waiting == 0 {
			close(w.wake)
		}
	}
}

// poll looks at the ledger until end is closed.
func (w *watch) poll(end <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // also while the ledger does not answer
		select {
		case <-end:
			cancel()
		case <-ctx.Done():
		}
	}()
	ticker := time.NewTicker(w.interval)
	defer ticker.Stop()
	for {
		select {
		case <-end:
			return
		case <-ticker.C:
		}
		mark, err := w.look(ctx)
		w.mu.Lock()
		other := err == nil && mark != w.mark
		if other {
			w.mark = mark
		}
		w.mu.Unlock()
		if other {
			w.tell()
		}
	}
}

// next returns a channel that is closed at the next change. Ask for it before looking at what may change.
func (w *watch) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// until calls try at each change until it returns true or an error, or ctx ends.
func (w *watch) until(ctx context.Context, try func() (bool, error)) error {
	changed := w.next()
	if done, err := try(); done || err != nil {
		return err
	}
	defer w.join()()
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		changed = w.next()
		if done, err := try(); done || err != nil {
			return err
		}
	}
}

// wait calls try now, and then at each change that a watch sees for a time in milliseconds, until it returns true. When the
// time is over it calls try once more, and returns nil if it returns false.
func (s *Server) wait(ctx context.Context, w *watch, ms uint32, try func(ctx context.Context) (bool, error)) error {
	if ms > rpc.MaxWait {
		return &zkbench.LimitError{What: "milliseconds that a call waits", Estimate: int64(ms), Max: rpc.MaxWait}
	}
	if done, err := try(ctx); done || err != nil || ms == 0 {
		return err
	}
	ctx, stop := s.until(ctx)
	defer stop()
	limited, cancel := context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
	defer cancel()
	err := w.until(limited, func() (bool, error) { return try(limited) })
	if limited.Err() != nil && ctx.Err() == nil {
		_, err = try(ctx)
	}
	return err
}
