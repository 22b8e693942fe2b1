package server

import (
	"context"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/rpc"
)

// watch wakes those who wait for a change of a ledger. Each waits for a topic, for example a record's anchor, so a change
// wakes only those whom it concerns. What this process writes it tells at once. What others write to the same database it
// finds by looking at intervals, while somebody waits.
type watch struct {
	looks    func() looker // begins to look
	interval time.Duration

	mu      sync.Mutex
	waiting map[string]map[chan struct{}]bool // by topic; none is empty
	end     chan struct{}                     // closed when nobody waits any more
}

// looker returns the topics that have changed since its last call. The first call returns everything: what happened before is
// not known.
type looker func(ctx context.Context) (topics []string, err error)

// everything is the topic whose change wakes all.
const everything = ""

func newWatch(interval time.Duration, looks func() looker) *watch {
	return &watch{looks: looks, interval: interval, waiting: make(map[string]map[chan struct{}]bool)}
}

// tell wakes those who wait for one of the topics.
func (w *watch) tell(topics ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, topic := range topics {
		if topic == everything {
			for _, all := range w.waiting {
				wake(all)
			}
			return
		}
		wake(w.waiting[topic])
	}
}

func wake(waiting map[chan struct{}]bool) {
	for changed := range waiting {
		select {
		case changed <- struct{}{}:
		default: // it has a value already
		}
	}
}

// join returns a channel that gets a value, if it has none, at each change of a topic until leave is called.
func (w *watch) join(topic string) (changed <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		w.end = make(chan struct{})
		go w.poll(w.end)
	}
	if w.waiting[topic] == nil {
		w.waiting[topic] = make(map[chan struct{}]bool)
	}
	w.waiting[topic][c] = true
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.waiting[topic], c); len(w.waiting[topic]) == 0 {
			delete(w.waiting, topic)
		}
		if len(w.waiting) == 0 {
			close(w.end)
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
	look := w.looks()
	for {
		select {
		case <-end:
			return
		case <-ticker.C:
		}
		if topics, err := look(ctx); err == nil {
			w.tell(topics...)
		}
	}
}

// until calls try now, and again at each change of a topic, until it returns true or an error, or ctx ends.
func (w *watch) until(ctx context.Context, topic string, try func() (bool, error)) error {
	changed, leave := w.join(topic)
	defer leave()
	for {
		if done, err := try(); done || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// wait calls try now, and then at each change of a topic for a time in milliseconds, until it returns true. When the time is
// over it calls try once more, and returns nil if it returns false.
func (s *Server) wait(ctx context.Context, w *watch, topic string, ms uint32, try func(ctx context.Context) (bool, error)) error {
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
	err := w.until(limited, topic, func() (bool, error) { return try(limited) })
	if limited.Err() != nil && ctx.Err() == nil {
		_, err = try(ctx)
	}
	return err
}
