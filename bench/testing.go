package bench

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
)

// Flags defines the flags of a test binary on flag.CommandLine. It defines one flag for each axis
// of the workloads, and the flags -workers, -duration, -setup_samples, -seed and -profile. If a
// test binary does not call Flags, Benchmark runs a case for each combination of default values,
// and TestParallel runs one small case. Flags panics if a Def is not valid, or if the binary
// already has a flag with one of these names.
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
	measure.DefineFlags(flag.CommandLine, all...)
}

// Benchmark runs each case that the flags select. If no flag is set, there is a case for each
// combination of default values. Each case is a sub-benchmark named key=value/key=value.
// Benchmark checks the result for each input once, before the timer starts.
func Benchmark(b *testing.B, def Def) {
	b.Helper()
	w, err := def.workload()
	if err != nil {
		b.Fatal(err)
	}
	measure.Benchmark(b, w, measure.OptionsOf(flag.CommandLine))
}

// TestParallel runs a load test. It runs each selected case once for each number of workers in the
// flag -workers. The flags of the axes select the cases. Each run lasts for the time in the flag
// -duration. Its report goes to standard output; the last line of the report is for benchstat. An
// axis whose flag is not set has its first value. If no flag is set, the duration is 100 ms. The
// test fails if an operation fails or a result is wrong.
func TestParallel(t *testing.T, def Def) {
	t.Helper()
	w, err := def.workload()
	if err != nil {
		t.Fatal(err)
	}
	measure.TestParallel(t, os.Stdout, w, measure.OptionsOf(flag.CommandLine))
}
