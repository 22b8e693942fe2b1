package server_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options = measure.Flags(flag.CommandLine, workloads.Land(), workloads.ServeTransfer())

func TestMain(m *testing.M) {
	workloads.ServerMain()
	m.Run()
}

func BenchmarkLand(b *testing.B) { measure.Benchmark(b, workloads.Land(), options) }

func BenchmarkServeTransfer(b *testing.B) { measure.Benchmark(b, workloads.ServeTransfer(), options) }

func TestParallelBenchmarkLand(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.Land(), options)
}

func TestParallelBenchmarkServeTransfer(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.ServeTransfer(), options)
}
