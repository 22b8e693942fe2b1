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

// ListenAccepted says in words what is accepted as the address of a load's figures.
const ListenAccepted = "a host and a port that is free, for example localhost:9100"

// live is what the load of a case has seen so far, for whoever asks over HTTP.
type live struct {
	labels string

	mu       sync.Mutex
	progress runner.Progress
}

// serveProgress serves GET /metrics while a case runs, in the text format of Prometheus (its
// documentation, "Exposition formats", version 0.0.4). stop ends it. The address is open to
// everyone who reaches it.
func serveProgress(l net.Listener, job Job) (watch func(runner.Progress), stop func()) {
	v := &live{labels: fmt.Sprintf("workload=%q,case=%q", job.Workload, job.Settings.Named(job.Case))}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		v.mu.Lock()
		p := v.progress
		v.mu.Unlock()
		_, _ = io.WriteString(w, exposition(v.labels, p)) // one who has gone away misses nothing
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

// exposition writes what was seen.
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
