package main

import (
	"os"
	"testing"

	"github.com/zkbench/zkbench/bench"
)

func TestMain(m *testing.M) {
	bench.Flags(preimage())
	os.Exit(m.Run())
}

func BenchmarkPreimage(b *testing.B) { bench.Benchmark(b, preimage()) }

func TestParallelBenchmarkPreimage(t *testing.T) { bench.TestParallel(t, preimage()) }
