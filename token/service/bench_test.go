package service_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options = measure.Flags(flag.CommandLine, workloads.IssueServiceIssue(), workloads.TransferServiceTransfer(),
	workloads.TransferServiceRedeem(), workloads.AuditorServiceCheck(), workloads.WalletFollowChecked(), workloads.LogFollow())

func TestMain(m *testing.M) {
	workloads.ServerMain()
	m.Run()
}

func BenchmarkIssueServiceIssue(b *testing.B) {
	measure.Benchmark(b, workloads.IssueServiceIssue(), options)
}

func BenchmarkTransferServiceTransfer(b *testing.B) {
	measure.Benchmark(b, workloads.TransferServiceTransfer(), options)
}

func BenchmarkTransferServiceRedeem(b *testing.B) {
	measure.Benchmark(b, workloads.TransferServiceRedeem(), options)
}

func BenchmarkAuditorServiceCheck(b *testing.B) {
	measure.Benchmark(b, workloads.AuditorServiceCheck(), options)
}

func BenchmarkWalletFollowChecked(b *testing.B) {
	measure.Benchmark(b, workloads.WalletFollowChecked(), options)
}

func TestParallelBenchmarkIssueServiceIssue(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.IssueServiceIssue(), options)
}

func TestParallelBenchmarkTransferServiceTransfer(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.TransferServiceTransfer(), options)
}

func TestParallelBenchmarkTransferServiceRedeem(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.TransferServiceRedeem(), options)
}

func TestParallelBenchmarkAuditorServiceCheck(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.AuditorServiceCheck(), options)
}

func TestParallelBenchmarkWalletFollowChecked(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.WalletFollowChecked(), options)
}

func BenchmarkLogFollow(b *testing.B) {
	measure.Benchmark(b, workloads.LogFollow(), options)
}

func TestParallelBenchmarkLogFollow(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.LogFollow(), options)
}
