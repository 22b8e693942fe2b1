package bolt_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options *workload.Options

func TestMain(m *testing.M) {
	options = workload.Flags(flag.CommandLine, workload.BatchAxis(), workload.TokensAxis())
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkLedgerApply(b *testing.B) {
	workload.Benchmark(b, workloads.LedgerApply(), options)
}

func TestParallelBenchmarkLedgerApply(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.LedgerApply(), options)
}
