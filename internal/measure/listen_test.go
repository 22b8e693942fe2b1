package measure

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestListen: what a scraper reads is in the form of Prometheus, and is what was told last.
func TestListen(t *testing.T) {
	spread := runner.Spread{UpTo: make([]uint64, len(runner.SpreadBounds())), N: 3, Sum: 1500 * time.Millisecond}
	spread.UpTo[0] = 2
	text := exposition(`workload="Sender"`, runner.Progress{Age: 2 * time.Second, Done: 3, Failed: 1, Offered: 9, Dropped: 4, Backlog: 5, Latency: spread, Response: spread})
	golden.Contains(t, text,
		"zkbench_window_seconds{workload=\"Sender\"} 2\n", "# TYPE zkbench_operations_total counter\n",
		"zkbench_operations_total{workload=\"Sender\",outcome=\"done\"} 3\n", "outcome=\"failed\"} 1\n", "outcome=\"dropped\"} 4\n",
		"# TYPE zkbench_latency_seconds histogram\n", "zkbench_latency_seconds_bucket{workload=\"Sender\",le=\"1.024e-06\"} 2\n",
		"zkbench_latency_seconds_bucket{workload=\"Sender\",le=\"+Inf\"} 3\n", "zkbench_latency_seconds_sum{workload=\"Sender\"} 1.5\n",
		"zkbench_response_seconds_count{workload=\"Sender\"} 3\n", "zkbench_offered_total{workload=\"Sender\"} 9\n", "zkbench_backlog{workload=\"Sender\"} 5\n")
	line := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\} [0-9.e+-]+)$`)
	for got := range strings.Lines(text) {
		if !line.MatchString(strings.TrimSuffix(got, "\n")) {
			t.Errorf("line %q", got)
		}
	}
	if closed := exposition("", runner.Progress{}); strings.Contains(closed, "backlog") {
		t.Errorf("of a closed loop:\n%s", closed)
	}
}

// TestListenServes asks while it listens.
func TestListenServes(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := l.Addr().String()
	job := Job{Workload: "Sender", Case: workload.NewCase(record.Axis{Key: "curve", Value: "BN254"}), Settings: DefaultSettings(1, time.Second)}
	watch, stop := serveProgress(l, job)
	defer stop()
	watch(runner.Progress{Done: 7})
	resp := must.Get(http.Get("http://" + address + "/metrics"))(t)
	defer resp.Body.Close()
	body := must.Get(io.ReadAll(resp.Body))(t)
	golden.Equal(t, "type", "text/plain; version=0.0.4; charset=utf-8", resp.Header.Get("Content-Type"))
	golden.Contains(t, string(body), `zkbench_operations_total{workload="Sender",case="curve=BN254/workers=1",outcome="done"} 7`)
	other := must.Get(http.Get("http://" + address + "/"))(t)
	defer other.Body.Close()
	golden.Equal(t, "elsewhere", http.StatusNotFound, other.StatusCode)
	stop()
	if resp, err := http.Get("http://" + address + "/metrics"); err == nil {
		resp.Body.Close()
		t.Error("it answers after its end")
	}
}

// TestListenRefuses: an address that is none ends the job before it begins.
func TestListenRefuses(t *testing.T) {
	job := must.Get(json.Marshal(Job{Workload: "Sender", Deadline: time.Minute, Listen: "nowhere:none"}))(t)
	err := Serve(t.Context(), bytes.NewReader(job), io.Discard, func(Job) (workload.Def, error) { return workload.Def{Name: "Sender"}, nil }, func() {})
	must.Fail(t, err, zkbench.ErrParams, "an address that is none")
	golden.Contains(t, err.Error(), `listen: "nowhere:none" is not accepted; accepted: a host and a port that is free`)
}
