package srs_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

var options *measure.Options

func TestMain(m *testing.M) {
	options = measure.Flags(flag.CommandLine, workloads.MSM().Axes...)
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkMSM(b *testing.B) { measure.Benchmark(b, workloads.MSM(), options) }

func TestParallelBenchmarkMSM(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.MSM(), options)
}
