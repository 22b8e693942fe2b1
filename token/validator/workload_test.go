package validator_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options = measure.Flags(flag.CommandLine, workloads.ValidatorTransfer(),
	workloads.ValidatorBatch(), workloads.Reject())

func BenchmarkValidatorTransfer(b *testing.B) {
	measure.Benchmark(b, workloads.ValidatorTransfer(), options)
}

func BenchmarkValidatorBatch(b *testing.B) {
	measure.Benchmark(b, workloads.ValidatorBatch(), options)
}

func BenchmarkReject(b *testing.B) { measure.Benchmark(b, workloads.Reject(), options) }

func TestParallelBenchmarkValidatorTransfer(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.ValidatorTransfer(), options)
}

func TestParallelBenchmarkValidatorBatch(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.ValidatorBatch(), options)
}

func TestParallelBenchmarkReject(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.Reject(), options)
}
