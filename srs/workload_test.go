package srs_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

var options *workload.Options

func TestMain(m *testing.M) {
	options = workload.Flags(flag.CommandLine, workloads.MSM().Axes...)
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkMSM(b *testing.B) { workload.Benchmark(b, workloads.MSM(), options) }

func TestParallelBenchmarkMSM(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.MSM(), options)
}
