package poseidon_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/goldilocks"
)

var options *measure.Options

func TestMain(m *testing.M) {
	options = measure.Flags(flag.CommandLine, workloads.PoseidonPermutation().Axes...)
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkPoseidonPermutation(b *testing.B) {
	measure.Benchmark(b, workloads.PoseidonPermutation(), options)
}

// TestParallelBenchmarkPoseidonPermutation is left out of short tests, which run under
// emulators.
func TestParallelBenchmarkPoseidonPermutation(t *testing.T) {
	if testing.Short() {
		t.Skip("load tests are not short")
	}
	measure.TestParallel(t, os.Stdout, workloads.PoseidonPermutation(), options)
}
