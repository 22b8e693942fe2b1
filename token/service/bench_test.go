package service_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options *workload.Options

func TestMain(m *testing.M) {
	options = workload.Flags(flag.CommandLine, workloads.OwnerAxis())
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkIssueServiceIssue(b *testing.B) {
	workload.Benchmark(b, workloads.IssueServiceIssue(), options)
}

func BenchmarkTransferServiceTransfer(b *testing.B) {
	workload.Benchmark(b, workloads.TransferServiceTransfer(), options)
}

func BenchmarkTransferServiceRedeem(b *testing.B) {
	workload.Benchmark(b, workloads.TransferServiceRedeem(), options)
}

func BenchmarkAuditorServiceCheck(b *testing.B) {
	workload.Benchmark(b, workloads.AuditorServiceCheck(), options)
}

func TestParallelBenchmarkIssueServiceIssue(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.IssueServiceIssue(), options)
}

func TestParallelBenchmarkTransferServiceTransfer(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.TransferServiceTransfer(), options)
}

func TestParallelBenchmarkTransferServiceRedeem(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.TransferServiceRedeem(), options)
}

func TestParallelBenchmarkAuditorServiceCheck(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.AuditorServiceCheck(), options)
}
