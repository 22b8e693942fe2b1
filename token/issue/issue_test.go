package issue_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options *workload.Options

func TestMain(m *testing.M) {
	options = workload.Flags(flag.CommandLine)
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkIssuer(b *testing.B) { workload.Benchmark(b, workloads.Issuer(), options) }

func BenchmarkProofVerificationIssuer(b *testing.B) {
	workload.Benchmark(b, workloads.ProofVerificationIssuer(), options)
}

func TestParallelBenchmarkIssuer(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.Issuer(), options)
}

func TestParallelBenchmarkProofVerificationIssuer(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.ProofVerificationIssuer(), options)
}
