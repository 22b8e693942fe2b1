package poly_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

var options = measure.Flags(flag.CommandLine, workloads.FFT())

func BenchmarkFFT(b *testing.B) { measure.Benchmark(b, workloads.FFT(), options) }

func TestParallelBenchmarkFFT(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.FFT(), options)
}
