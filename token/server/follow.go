package server

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/peer"
)

// A service follows its ledger every followInterval. If a caller needs a newer policy, it follows at once, but not more
// often than every followPause: each time it asks the ledger's server.
const (
	followInterval = 5 * time.Second
	followPause    = 200 * time.Millisecond
)

// follower makes a service follow its ledger.
type follower struct {
	role   peer.Role
	follow func(ctx context.Context) error
	last   func() (uint64, error) // number of the last record that the service has seen

	turn  chan struct{} // has a place for the call that follows
	ended time.Time     // when the last call ended
}

func newFollower(role peer.Role, follow func(ctx context.Context) error, last func() (uint64, error)) *follower {
	return &follower{role: role, follow: follow, last: last, turn: make(chan struct{}, 1)}
}

// begin follows until the server stops.
func (f *follower) begin(s *Server) error {
	seen := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "zkbench_followed_record", Help: "Number of the last record of the ledger that the service has seen."}, func() float64 {
		last, _ := f.last() // of a vault that is closed; the log says so
		return float64(last)
	})
	failures := prometheus.NewCounter(prometheus.CounterOpts{Name: "zkbench_follow_failures_total", Help: "Times that the service could not follow the ledger: its log says why."})
	register := prometheus.WrapRegistererWith(prometheus.Labels{"role": string(f.role)}, s.register)
	for _, c := range []prometheus.Collector{seen, failures} {
		if err := register.Register(c); err != nil {
			return err
		}
	}
	go func() {
		ctx, stop := s.until(context.Background())
		defer stop()
		ticker := time.NewTicker(followInterval)
		defer ticker.Stop()
		for {
			if err := f.now(ctx, nil); err != nil && ctx.Err() == nil && !errors.Is(err, fs.ErrClosed) {
				failures.Inc()
				s.log.WarnContext(ctx, "the ledger cannot be followed", "role", f.role, "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return nil
}

// now follows the ledger, one call at a time. If enough is not nil, it does not follow if enough returns true, and returns
// an *rpc.Busy if it has followed just now, or if enough returns false after it.
func (f *follower) now(ctx context.Context, enough func() bool) error {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	later := &rpc.Busy{LimitError: &zkbench.LimitError{What: "policy updates that the service has not followed yet", Estimate: 1}, After: followPause}
	if enough != nil {
		if enough() {
			return nil
		}
		if time.Since(f.ended) < followPause {
			return later
		}
	}
	err := f.follow(ctx)
	f.ended = time.Now()
	if err == nil && enough != nil && !enough() {
		return later
	}
	return err
}
