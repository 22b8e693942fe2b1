package zkbench

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestServeTraces checks that a server exports its traces to the collector that the environment names, the last ones when it
// stops.
func TestServeTraces(t *testing.T) {
	t.Parallel()
	bodies := make(chan []byte, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err == nil && r.URL.Path == "/v1/traces" {
			bodies <- body
		}
	}))
	defer collector.Close()
	s := newServed(t, "")
	cmd := exec.Command("zkbench-real", "serve", "--ledger", s.place, "--params", s.path("params"), "--listen", "127.0.0.1:0", "--tls", s.path("north"))
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	p := s.runs(cmd)
	s.dial(p.url, -1)
	s.stop(p)
	var all []byte
	for len(bodies) > 0 {
		all = append(all, <-bodies...)
	}
	for _, want := range []string{"zkbench-validator", "zkbench.token.v1.LedgerService/GetLedger"} {
		golden.Equal(t, "the collector has "+want, true, bytes.Contains(all, []byte(want)))
	}
}
