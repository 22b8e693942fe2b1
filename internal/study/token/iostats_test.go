package token_test

import (
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study/token"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
)

// TestIOStats: repetitions are one row of medians, environments are rows apart, and what has no bits has none.
func TestIOStats(t *testing.T) {
	sender := func(bits, cpu string, ms float64) *record.Record {
		r := record.New()
		r.Workload, r.Env.GOMAXPROCS, r.Env.CPU = "Sender", 2, cpu
		r.Axes = recordtest.Axes("curve=BN254/bits=" + bits + "/in=2/out=2/proof=csp/exec=pool/workers=2")
		r.Metrics = []record.Metric{record.LatencyMean.Metric(1e6 * ms), record.Allocs.Metric(7), record.AllocBytes.Metric(100)}
		return r
	}
	other := sender("32", "", 1)
	other.Axes = recordtest.Axes("log=10")
	recs := []*record.Record{sender("64", "a", 8), sender("32", "a", 2), sender("32", "a", 4), sender("32", "b", 9), other}
	var b strings.Builder
	must.Do(t, token.IOStats(&b, recs))
	golden.Equal(t, "table", "bench,curve,proof,exec,cpus,workers,bits,I,O,allocs,RAM bytes,time ms\n"+
		"Sender,BN254,csp,pool,2,2,32,2,2,7,100,3\nSender,BN254,csp,pool,2,2,64,2,2,7,100,8\n"+
		"Sender (environment 2),BN254,csp,pool,2,2,32,2,2,7,100,9\n", b.String())
}
