package runner_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// queue is a simulated first-come first-served station with Poisson arrivals, by Lindley's
// recursion.
type queue struct {
	r        *rand.Rand
	servers  int
	constant bool // service times; exponential otherwise. Their mean is 1 ms
	limit    float64
}

// late returns how many of n customers, who arrive at a rate after a warm-up, wait and are
// served for longer than the limit.
func (q *queue) late(rate float64, n int) (late uint64) {
	free := make([]float64, q.servers)
	now := 0.0
	for i := range n + n/10 {
		now += q.r.ExpFloat64() / rate
		first := 0
		for i := range free {
			if free[i] < free[first] {
				first = i
			}
		}
		service := 0.001
		if !q.constant {
			service *= q.r.ExpFloat64()
		}
		free[first] = max(free[first], now) + service
		if i >= n/10 && free[first]-now > q.limit {
			late++
		}
	}
	return late
}

// share returns the theoretical share of late customers. The unit of time is the mean service
// time. M/M/1 and M/M/2 use the Erlang C formula, and M/D/1 that of Erlang, 1909 (Gross and
// others, Fundamentals of Queueing Theory, 4th ed., 2.2 to 2.3 and 5.1).
func (q *queue) share(rate float64) float64 {
	a, t := rate*0.001, q.limit*1000
	switch {
	case q.constant:
		served := 0.0 // share of those who wait for t - 1 at most
		for k := 0; float64(k) <= t-1; k++ {
			x := a * (t - 1 - float64(k))
			term := math.Exp(x)
			for j := 1; j <= k; j++ {
				term *= -x / float64(j)
			}
			served += term
		}
		return 1 - (1-a)*served
	case q.servers == 1:
		return math.Exp((a - 1) * t)
	default: // 2
		rho := a / 2
		waits := 2 * rho * rho / (1 + rho)
		return math.Exp(-t) * (1 + waits*(1-math.Exp(-t*(1-a)))/(1-a))
	}
}

// capacity returns the rate at which the given share of customers is late.
func (q *queue) capacity(share float64) float64 {
	low, high := 1.0, 1000*float64(q.servers)-1e-9
	for range 100 {
		if middle := (low + high) / 2; q.share(middle) > share {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// TestCapacityHoldsTheTruth: of searches on stations whose capacity is known, 95 % give an
// interval that holds it.
func TestCapacityHoldsTheTruth(t *testing.T) {
	testsize.Full(t)
	const searches, share = 200, 0.01
	for _, test := range []struct {
		name  string
		queue queue
	}{
		{"M/M/1", queue{servers: 1, limit: 0.02}},
		{"M/D/1", queue{servers: 1, limit: 0.01, constant: true}},
		{"M/M/2", queue{servers: 2, limit: 0.02}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q := test.queue
			q.r = rand.New(rand.NewPCG(1, 1))
			truth := q.capacity(share)
			golden.Near(t, "share of ten million who are late at capacity", share, float64(q.late(truth, 10_000_000))/1e7, 0.1)
			held, trials := 0, 0
			var widths []float64
			for range searches {
				e := must.Get(runner.Capacity(t.Context(), 700, share, nil, func(_ context.Context, rate float64) (late, offered uint64, err error) {
					trials++
					const n = 100 / share
					return q.late(rate, n), n, nil
				}))(t)
				if e.Low <= truth && truth <= e.High {
					held++
				}
				widths = append(widths, (e.High-e.Low)/e.Value)
			}
			t.Logf("truth %.1f a second: in the interval in %d of %d searches of %d trials, %.1f %% wide (median)", truth, held, searches, trials/searches, 100*stat.Median(widths))
			if held < 190 {
				t.Errorf("the truth is in the interval in %d of %d searches", held, searches)
			}
		})
	}
}
