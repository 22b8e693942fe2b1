package goldilocks_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/goldilocks"
)

var options = measure.Flags(flag.CommandLine, slices.Concat(workloads.GoldilocksOps().Axes,
	workloads.NTT().Axes, workloads.LDE().Axes, workloads.PolyEval().Axes)...)

func BenchmarkGoldilocksOps(b *testing.B) { measure.Benchmark(b, workloads.GoldilocksOps(), options) }

func BenchmarkNTT(b *testing.B) { measure.Benchmark(b, workloads.NTT(), options) }

func BenchmarkLDE(b *testing.B) { measure.Benchmark(b, workloads.LDE(), options) }

func BenchmarkPolyEval(b *testing.B) { measure.Benchmark(b, workloads.PolyEval(), options) }

func TestParallelBenchmarkGoldilocksOps(t *testing.T) { parallel(t, workloads.GoldilocksOps()) }

func TestParallelBenchmarkNTT(t *testing.T) { parallel(t, workloads.NTT()) }

func TestParallelBenchmarkLDE(t *testing.T) { parallel(t, workloads.LDE()) }

func TestParallelBenchmarkPolyEval(t *testing.T) { parallel(t, workloads.PolyEval()) }

// parallel leaves load tests out of short tests, which run under emulators.
func parallel(t *testing.T, def workload.Def) {
	testsize.Full(t)
	measure.TestParallel(t, os.Stdout, def, options)
}
