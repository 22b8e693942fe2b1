package bulletproof_test

import (
	"flag"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/rangeproof"
)

// The flags of package rangeproof's benchmarks, so that one command line of go test serves all its packages.
var _ = measure.Flags(flag.CommandLine, workloads.RangeBatch())
