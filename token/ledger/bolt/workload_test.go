package bolt_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options *measure.Options

func TestMain(m *testing.M) {
	options = measure.Flags(flag.CommandLine, workload.BatchAxis(), workload.TokensAxis())
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkLedgerApply(b *testing.B) {
	measure.Benchmark(b, workloads.LedgerApply(), options)
}

func TestParallelBenchmarkLedgerApply(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.LedgerApply(), options)
}
