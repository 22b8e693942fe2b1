package rangeproof_test

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	workloads "github.com/zkbench/zkbench/internal/workload/rangeproof"
)

// options are the flags of the workloads' axes; the packages below define the same ones.
var options = measure.Flags(flag.CommandLine, workloads.RangeBatch(), workloads.RangeProve(), workloads.RangeVerify())

func BenchmarkRangeProve(b *testing.B) { measure.Benchmark(b, workloads.RangeProve(), options) }

func BenchmarkRangeVerify(b *testing.B) { measure.Benchmark(b, workloads.RangeVerify(), options) }

// BenchmarkRangeBatch verifies batches; ns/op is the batch's.
func BenchmarkRangeBatch(b *testing.B) { measure.Benchmark(b, workloads.RangeBatch(), options) }

func TestParallelBenchmarkRangeProve(t *testing.T) {
	t.Parallel()
	measure.TestParallel(t, os.Stdout, workloads.RangeProve(), options)
}

func TestParallelBenchmarkRangeVerify(t *testing.T) {
	t.Parallel()
	measure.TestParallel(t, os.Stdout, workloads.RangeVerify(), options)
}

func TestParallelBenchmarkRangeBatch(t *testing.T) {
	t.Parallel()
	measure.TestParallel(t, os.Stdout, workloads.RangeBatch(), options)
}

// TestOneCommand: one command line of go test serves this package and those below it.
func TestOneCommand(t *testing.T) {
	testsize.Full(t)
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "test", "./...", "-run", "^$", "-bench", "^BenchmarkRange(Prove|Verify|Batch)$", "-benchtime", "1x",
		"-bits", "8", "-curves", "BN254", "-values", "2", "-batch", "2", "-proof_type", "bulletproof,csp", "-executor", "serial,pool")
	out, err := cmd.CombinedOutput()
	must.Do(t, err, string(out))
	golden.Equal(t, "cases that are measured: two range proofs and two executors of three workloads", 12, strings.Count(string(out), " ns/op"))
	golden.Contains(t, string(out), "BenchmarkRangeVerify/curve=BN254/bits=8/values=2/proof=csp/exec=pool", "B/proof")
}
