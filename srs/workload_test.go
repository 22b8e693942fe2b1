package srs_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

var options = measure.Flags(flag.CommandLine, workloads.MSM())

func BenchmarkMSM(b *testing.B) { measure.Benchmark(b, workloads.MSM(), options) }

func TestParallelBenchmarkMSM(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.MSM(), options)
}
