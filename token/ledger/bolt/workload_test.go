package bolt_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options = measure.Flags(flag.CommandLine, workloads.LedgerApply())

func BenchmarkLedgerApply(b *testing.B) {
	measure.Benchmark(b, workloads.LedgerApply(), options)
}

func TestParallelBenchmarkLedgerApply(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.LedgerApply(), options)
}
