package transfer_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options *workload.Options

func TestMain(m *testing.M) {
	options = workload.Flags(flag.CommandLine, workload.BatchAxis())
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkTransferProofGeneration(b *testing.B) {
	workload.Benchmark(b, workloads.TransferProofGeneration(), options)
}

func BenchmarkSender(b *testing.B) { workload.Benchmark(b, workloads.Sender(), options) }

func BenchmarkVerificationSenderProof(b *testing.B) {
	workload.Benchmark(b, workloads.VerificationSenderProof(), options)
}

// BenchmarkVerificationSenderBatch verifies batches; ns/op is the batch's.
func BenchmarkVerificationSenderBatch(b *testing.B) {
	workload.Benchmark(b, workloads.VerificationSenderBatch(), options)
}

func TestParallelBenchmarkTransferProofGeneration(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.TransferProofGeneration(), options)
}

func TestParallelBenchmarkSender(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.Sender(), options)
}

func TestParallelBenchmarkVerificationSenderProof(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.VerificationSenderProof(), options)
}
