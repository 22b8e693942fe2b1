package issue_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options = measure.Flags(flag.CommandLine, workloads.Issuer(), workloads.ProofVerificationIssuer())

func BenchmarkIssuer(b *testing.B) { measure.Benchmark(b, workloads.Issuer(), options) }

func BenchmarkProofVerificationIssuer(b *testing.B) {
	measure.Benchmark(b, workloads.ProofVerificationIssuer(), options)
}

func TestParallelBenchmarkIssuer(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.Issuer(), options)
}

func TestParallelBenchmarkProofVerificationIssuer(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.ProofVerificationIssuer(), options)
}
