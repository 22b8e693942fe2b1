package transfer_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options = measure.Flags(flag.CommandLine, workloads.TransferProofGeneration(), workloads.Sender(),
	workloads.VerificationSenderProof(), workloads.VerificationSenderBatch())

func BenchmarkTransferProofGeneration(b *testing.B) {
	measure.Benchmark(b, workloads.TransferProofGeneration(), options)
}

func BenchmarkSender(b *testing.B) { measure.Benchmark(b, workloads.Sender(), options) }

func BenchmarkVerificationSenderProof(b *testing.B) {
	measure.Benchmark(b, workloads.VerificationSenderProof(), options)
}

// BenchmarkVerificationSenderBatch verifies batches; ns/op is the batch's.
func BenchmarkVerificationSenderBatch(b *testing.B) {
	measure.Benchmark(b, workloads.VerificationSenderBatch(), options)
}

func TestParallelBenchmarkTransferProofGeneration(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.TransferProofGeneration(), options)
}

func TestParallelBenchmarkSender(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.Sender(), options)
}

func TestParallelBenchmarkVerificationSenderProof(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.VerificationSenderProof(), options)
}
