package poseidon_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	workloads "github.com/zkbench/zkbench/internal/workload/goldilocks"
)

var options = measure.Flags(flag.CommandLine, workloads.PoseidonPermutation())

func BenchmarkPoseidonPermutation(b *testing.B) {
	measure.Benchmark(b, workloads.PoseidonPermutation(), options)
}

// TestParallelBenchmarkPoseidonPermutation is left out of short tests, which run under
// emulators.
func TestParallelBenchmarkPoseidonPermutation(t *testing.T) {
	testsize.Full(t)
	measure.TestParallel(t, os.Stdout, workloads.PoseidonPermutation(), options)
}
