package measure

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/zkbench/zkbench/internal/runner"
)

// ListenAccepted tells the user which addresses the flag --listen accepts.
const ListenAccepted = "a host and a port that is free, for example localhost:9100"

// live holds the latest progress of a case's load, for HTTP clients.
type live struct {
	labels string

	mu       sync.Mutex
	progress runner.Progress
}

// serveProgress serves GET /metrics while a case runs, in Prometheus' text format (its
// documentation, "Exposition formats", version 0.0.4). The load reports to watch; stop ends the
// server. Anyone who can reach the address can read it.
func serveProgress(l net.Listener, job Job) (watch func(runner.Progress), stop func()) {
	v := &live{labels: fmt.Sprintf("workload=%q,case=%q", job.Workload, job.Settings.Named(job.Case))}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		v.mu.Lock()
		p := v.progress
		v.mu.Unlock()
		_, _ = io.WriteString(w, exposition(v.labels, p)) // the client may have gone away
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }() // until it is closed
	watch = func(p runner.Progress) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.progress = p
	}
	return watch, func() { _ = server.Close() }
}

// exposition returns the progress in Prometheus' text format.
func exposition(labels string, p runner.Progress) string {
	var b strings.Builder
	head := func(name, kind, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	head("zkbench_window_seconds", "gauge", "Age of the window; 0 before it opens.")
	fmt.Fprintf(&b, "zkbench_window_seconds{%s} %g\n", labels, p.Age.Seconds())
	head("zkbench_operations_total", "counter", "Operations of the window that ended, or found the queue full.")
	for _, outcome := range []struct {
		name string
		n    uint64
	}{{"done", p.Done}, {"failed", p.Failed}, {"dropped", p.Dropped}} {
		fmt.Fprintf(&b, "zkbench_operations_total{%s,outcome=%q} %d\n", labels, outcome.name, outcome.n)
	}
	spread := func(name, help string, s runner.Spread) {
		head(name, "histogram", help)
		for i, n := range s.UpTo {
			fmt.Fprintf(&b, "%s_bucket{%s,le=\"%g\"} %d\n", name, labels, runner.SpreadBounds()[i].Seconds(), n)
		}
		fmt.Fprintf(&b, "%s_bucket{%s,le=\"+Inf\"} %d\n%s_sum{%s} %g\n%s_count{%s} %d\n", name, labels, s.N, name, labels, s.Sum.Seconds(), name, labels, s.N)
	}
	spread("zkbench_latency_seconds", "Service time of operations that ended well.", p.Latency)
	if p.Offered > 0 {
		head("zkbench_offered_total", "counter", "Operations that arrived.")
		fmt.Fprintf(&b, "zkbench_offered_total{%s} %d\n", labels, p.Offered)
		head("zkbench_backlog", "gauge", "Operations that wait for a worker.")
		fmt.Fprintf(&b, "zkbench_backlog{%s} %d\n", labels, p.Backlog)
		spread("zkbench_response_seconds", "Time from the intended start to the end.", p.Response)
	}
	return b.String()
}
