package goldilocks_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/goldilocks"
)

var options = measure.Flags(flag.CommandLine, workloads.GoldilocksOps(), workloads.NTT(),
	workloads.LDE(), workloads.PolyEval())

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

// random returns n random elements.
func random(n int) []goldilocks.Element {
	source := rand.New(rand.NewPCG(1, 1))
	return generate(n, func(int) goldilocks.Element { return goldilocks.Reduce(source.Uint64()) })
}

// BenchmarkBitReverse is what a transform with natural order at both ends costs more.
func BenchmarkBitReverse(b *testing.B) {
	for _, log := range []int{12, 16, 20, 22} {
		v := random(1 << log)
		b.Run(fmt.Sprintf("size=2^%d", log), func(b *testing.B) {
			b.SetBytes(8 << log)
			for b.Loop() {
				must.Do(b, goldilocks.BitReverse(v))
			}
		})
	}
}
