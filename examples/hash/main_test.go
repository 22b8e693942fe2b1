package main

import (
	"os"
	"testing"

	"github.com/zkbench/zkbench/bench"
)

// The flags are those of the axes and of the load: go test ./hash -bench . -bytes=136 -workers=2
func TestMain(m *testing.M) {
	bench.Flags(defs()...)
	os.Exit(m.Run())
}

func BenchmarkKeccak256(b *testing.B) { bench.Benchmark(b, defs()[0]) }
func BenchmarkSHA256(b *testing.B)    { bench.Benchmark(b, defs()[1]) }

func TestParallelBenchmarkKeccak256(t *testing.T) { bench.TestParallel(t, defs()[0]) }
func TestParallelBenchmarkSHA256(t *testing.T)    { bench.TestParallel(t, defs()[1]) }
