package stark_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/stark"
)

var options = measure.Flags(flag.CommandLine, workloads.StarkMix())

func BenchmarkStarkMix(b *testing.B) {
	measure.Benchmark(b, workloads.StarkMix(), options)
}

func TestParallelBenchmarkStarkMix(t *testing.T) {
	t.Parallel()
	measure.TestParallel(t, os.Stdout, workloads.StarkMix(), options)
}
