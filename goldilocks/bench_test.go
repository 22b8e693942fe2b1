package goldilocks_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/goldilocks"
)

var options *measure.Options

// TestMain defines each axis' flag once: the workloads share some, and the executor's is
// there.
func TestMain(m *testing.M) {
	var axes []workload.Axis
	for _, d := range []workload.Def{workloads.GoldilocksOps(), workloads.NTT(), workloads.LDE(), workloads.PolyEval()} {
		for _, a := range d.Axes {
			if a.Key != "exec" && !slices.ContainsFunc(axes, func(other workload.Axis) bool { return other.Key == a.Key }) {
				axes = append(axes, a)
			}
		}
	}
	options = measure.Flags(flag.CommandLine, axes...)
	flag.Parse()
	os.Exit(m.Run())
}

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
	if testing.Short() {
		t.Skip("load tests are not short")
	}
	measure.TestParallel(t, os.Stdout, def, options)
}
