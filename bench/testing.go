package bench

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/workload"
)

// Flags defines the flags of a test binary on flag.CommandLine: one for each axis of the
// workloads, -workers, -duration, -setup_samples, -seed and -profile. Without it Benchmark runs all
// defaults and TestParallel one small case. It panics where the binary has a flag of that name.
//
//	func TestMain(m *testing.M) {
//		bench.Flags(sum())
//		os.Exit(m.Run())
//	}
func Flags(defs ...Def) {
	all, err := workloads(defs)
	if err != nil {
		panic(err)
	}
	var axes []workload.Axis
	for _, d := range all {
		axes = append(axes, d.Axes...)
	}
	measure.DefineFlags(flag.CommandLine, axes...)
}

// Benchmark runs every case that the flags ask for as a sub-benchmark named key=value/key=value;
// with no flags all defaults. The result for each input is checked once before the timer starts.
func Benchmark(b *testing.B, def Def) {
	b.Helper()
	w, err := def.workload()
	if err != nil {
		b.Fatal(err)
	}
	measure.Benchmark(b, w, measure.OptionsOf(flag.CommandLine))
}

// TestParallel is a load test: it runs each case that the flags ask for with each number of
// -workers for -duration, and writes its report to standard output, with a line for benchstat at
// its end. An axis that no flag names takes its first value; with no flags at all the window is
// 100 ms. An operation that fails and a wrong result fail the test.
func TestParallel(t *testing.T, def Def) {
	t.Helper()
	w, err := def.workload()
	if err != nil {
		t.Fatal(err)
	}
	measure.TestParallel(t, os.Stdout, w, measure.OptionsOf(flag.CommandLine))
}
