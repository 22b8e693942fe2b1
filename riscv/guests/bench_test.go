package guests_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	workloads "github.com/zkbench/zkbench/internal/workload/guest"
)

var options = measure.Flags(flag.CommandLine, workloads.Guest())

func BenchmarkGuest(b *testing.B) { measure.Benchmark(b, workloads.Guest(), options) }

func TestParallelBenchmarkGuest(t *testing.T) {
	testsize.Full(t)
	measure.TestParallel(t, os.Stdout, workloads.Guest(), options)
}
