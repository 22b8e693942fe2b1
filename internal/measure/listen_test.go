package measure

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestListen: what a scraper reads is in the form of Prometheus, and is what was told last.
func TestListen(t *testing.T) {
	job := Job{Workload: "Sender", Case: workload.NewCase(record.Axis{Key: "curve", Value: `B"N\254`}), Settings: DefaultSettings(2, time.Second)}
	watch, stop, err := listen("127.0.0.1:0", job)
	must.Do(t, err)
	stop() // the port is not known; the handler is
	watch(runner.Progress{})
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
	_, _, err = listen("nowhere:none", job)
	must.Fail(t, err, must.ErrAny, "an address that is none")
}

// TestListenServes asks while it listens.
func TestListenServes(t *testing.T) {
	const address = "127.0.0.1:39187"
	watch, stop, err := listen(address, Job{Workload: "Sender", Settings: DefaultSettings(1, time.Second)})
	if err != nil {
		t.Skip(err) // someone else has the port
	}
	defer stop()
	watch(runner.Progress{Done: 7})
	resp := must.Get(http.Get("http://" + address + "/metrics"))(t)
	defer resp.Body.Close()
	body := must.Get(io.ReadAll(resp.Body))(t)
	golden.Equal(t, "type", "text/plain; version=0.0.4; charset=utf-8", resp.Header.Get("Content-Type"))
	golden.Contains(t, string(body), `zkbench_operations_total{workload="Sender",case="workers=1",outcome="done"} 7`)
	other := must.Get(http.Get("http://" + address + "/"))(t)
	defer other.Body.Close()
	golden.Equal(t, "elsewhere", http.StatusNotFound, other.StatusCode)
}
