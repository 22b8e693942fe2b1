package server

import (
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/zkbench/zkbench"
)

// metrics counts what a server does.
type metrics struct {
	calls    *prometheus.CounterVec   // by method and code
	seconds  *prometheus.HistogramVec // by method
	running  *prometheus.GaugeVec     // by method
	refused  *prometheus.CounterVec   // by reason: before a service sees the call
	verdicts *prometheus.CounterVec   // by outcome: landed or signed, error, or the check that refused
	batches  prometheus.Histogram     // requests of a batch

	mu       sync.Mutex
	outcomes map[string]bool // names that verdicts have had
}

// maxOutcomes is the greatest number of names of outcomes. A validator has fewer checks.
const maxOutcomes = 64

// seconds are the bounds of histograms of durations, a factor of 2 apart: 250 µs to 16 s.
var seconds = prometheus.ExponentialBuckets(0.00025, 2, 17)

func newMetrics(r prometheus.Registerer, l *limiter) (*metrics, error) {
	m := &metrics{
		outcomes: make(map[string]bool),
		calls:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "zkbench_calls_total", Help: "Calls that have ended, by method and code."}, []string{"method", "code"}),
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "zkbench_call_seconds", Help: "How long calls took, by method.", Buckets: seconds}, []string{"method"}),
		running:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "zkbench_calls_running", Help: "Calls that run now, by method."}, []string{"method"}),
		refused:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "zkbench_refused_total", Help: "Calls that were refused before a service saw them, by reason: role, host, calls, streams, connections."}, []string{"reason"}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "zkbench_verdicts_total", Help: "Verdicts on requests, by outcome: landed, pending for a wallet, signed by an auditor, error, the check that refused the request, or other."}, []string{"outcome"}),
		batches:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: "zkbench_batch_requests", Help: "Requests that are validated together.", Buckets: prometheus.ExponentialBuckets(1, 2, 9)}),
	}
	memory := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "zkbench_memory_bytes", Help: "Bytes of requests and answers in memory, as the limit of memory counts them."}, func() float64 { return float64(l.memory.Load()) })
	most := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "zkbench_memory_bytes_limit", Help: "The limit of zkbench_memory_bytes."}, func() float64 { return float64(l.Memory) })
	streams := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "zkbench_streams", Help: "Streams of the log that are open."}, func() float64 { return float64(l.streams.Load()) })
	for _, c := range []prometheus.Collector{m.calls, m.seconds, m.running, m.refused, m.verdicts, m.batches, memory, most, streams} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// begin counts a call that begins. The function that it returns counts its end.
func (m *metrics) begin(procedure string) (done func(code string)) {
	method := procedure[strings.LastIndexByte(procedure, '/')+1:]
	start, running := time.Now(), m.running.WithLabelValues(method)
	running.Inc()
	return func(code string) {
		running.Dec()
		m.calls.WithLabelValues(method, code).Inc()
		m.seconds.WithLabelValues(method).Observe(time.Since(start).Seconds())
	}
}

// verdict counts a verdict. good is its outcome if there is no error. A check of another server may have any name, and each
// name takes memory for good: after maxOutcomes of them, new ones count as other.
func (m *metrics) verdict(err error, good string) {
	outcome := "error"
	if err == nil {
		outcome = good
	} else if c, ok := errors.AsType[*zkbench.CheckError](err); ok {
		outcome = c.Check
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.outcomes[outcome] {
		if len(m.outcomes) == maxOutcomes {
			outcome = "other"
		} else {
			m.outcomes[outcome] = true
		}
	}
	m.verdicts.WithLabelValues(outcome).Inc()
}
