//go:build linux && !arm64

package loops_test

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/qemutest"
)

// TestEmulated runs the loops of arm64, and counts the instructions of a pass.
func TestEmulated(t *testing.T) {
	t.Parallel()
	binary := qemutest.Build(t)
	for _, cpu := range []string{"cortex-a57", "a64fx"} {
		binary.Run(t, cpu, nil, "-test.run=^Test(All|Runs)$")
	}
	names := []string{"chain", "addScalar", "subScalar", "mulScalar", "addSVE", "subSVE", "mulSVE", "mulhiSVE", "mulSVE2", "mulhiSVE2"}
	var symbols []string
	for _, name := range names {
		symbols = append(symbols, "github.com/zkbench/zkbench/internal/study/loops."+name+".abi0")
	}
	count := func(passes int) []int {
		return binary.Count(t, "max", symbols, nil, fmt.Sprintf("-test.run=^TestRuns$/^passes=%d$", passes))
	}
	none, one := count(0), count(1)
	for i, name := range names {
		passes := 1
		if name == "addSVE" || name == "subSVE" {
			passes = 2 // both kernels have them
		}
		golden.Equal(t, fmt.Sprintf("%s: instructions in %d passes", name, passes), 98*passes, one[i]-none[i])
	}
}
