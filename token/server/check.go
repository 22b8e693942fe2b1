package server

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkbench/zkbench/token/service"
)

// A vault is compared with its ledger every checkInterval, or less often if comparing takes more than a tenth of that: each
// token and each request of its history is looked up on the ledger. What differs is compared again after settleTime: the
// ledger may have recorded it between the two look-ups.
const (
	checkInterval = 10 * time.Minute
	settleTime    = 2 * time.Second
)

// mostLogged is the number of findings of one check that are logged.
const mostLogged = 100

// checker compares a vault with its ledger, until a server stops.
type checker struct {
	follower *follower
	compare  func(ctx context.Context) ([]service.Finding, error)

	findings *prometheus.GaugeVec // by kind
	last     prometheus.Gauge
	failures prometheus.Counter
}

// newChecker returns a checker of the vault that f makes follow its ledger.
func newChecker(f *follower, compare func(ctx context.Context) ([]service.Finding, error)) *checker {
	return &checker{
		follower: f,
		compare:  compare,
		findings: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "zkbench_vault_findings", Help: "Differences between the vault and the ledger at the last check, by kind."}, []string{"kind"}),
		last:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "zkbench_vault_check_time_seconds", Help: "When the last check ended, in seconds since 1970-01-01 UTC; 0 before the first."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "zkbench_vault_check_failures_total", Help: "Checks that did not end: the log says why."}),
	}
}

// begin checks until the server stops.
func (c *checker) begin(s *Server) error {
	register := prometheus.WrapRegistererWith(prometheus.Labels{"role": string(c.follower.role)}, s.register)
	for _, m := range []prometheus.Collector{c.findings, c.last, c.failures} {
		if err := register.Register(m); err != nil {
			return err
		}
	}
	c.count(nil)
	go func() {
		ctx, stop := s.until(context.Background())
		defer stop()
		for {
			start := time.Now()
			findings, err := c.confirmed(ctx)
			switch {
			case ctx.Err() != nil || errors.Is(err, fs.ErrClosed):
				return
			case err != nil:
				c.failures.Inc()
				s.log.WarnContext(ctx, "the vault cannot be compared with the ledger", "role", c.follower.role, "error", err)
			default:
				c.count(findings)
				c.last.SetToCurrentTime()
				if n := len(findings); n > mostLogged {
					s.log.ErrorContext(ctx, "the vault differs from the ledger in many places; the first follow", "role", c.follower.role, "findings", n)
				}
				for _, f := range findings[:min(len(findings), mostLogged)] {
					s.log.ErrorContext(ctx, "the vault differs from the ledger", "role", c.follower.role, "finding", f.String())
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(checkInterval, 10*time.Since(start))):
			}
		}
	}()
	return nil
}

// count sets the metric of all kinds.
func (c *checker) count(findings []service.Finding) {
	c.findings.Reset()
	for _, kind := range service.Discrepancies() {
		c.findings.WithLabelValues(string(kind))
	}
	for _, f := range findings {
		c.findings.WithLabelValues(string(f.Kind)).Inc()
	}
}

// confirmed returns the differences that two comparisons find.
func (c *checker) confirmed(ctx context.Context) ([]service.Finding, error) {
	before, err := c.now(ctx)
	if len(before) == 0 || err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(settleTime):
	}
	after, err := c.now(ctx)
	if err != nil {
		return nil, err
	}
	known := make([]string, len(before))
	for i, f := range before {
		known[i] = f.String()
	}
	return slices.DeleteFunc(after, func(f service.Finding) bool { return !slices.Contains(known, f.String()) }), nil
}

// now follows the ledger and compares once.
func (c *checker) now(ctx context.Context) ([]service.Finding, error) {
	if err := c.follower.now(ctx, nil); err != nil {
		return nil, err
	}
	return c.compare(ctx)
}
