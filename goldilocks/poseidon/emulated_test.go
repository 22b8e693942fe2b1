//go:build linux && !arm64

package poseidon_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/internal/qemutest"
)

var update = flag.Bool("update", false, "rewrite the counts in testdata")

// TestEmulated runs this package's tests on arm64 processors with vectors of some lengths
// and with none.
func TestEmulated(t *testing.T) {
	binary := qemutest.Build(t)
	for _, cpu := range []string{
		"cortex-a57", "a64fx", "max,sve-max-vq=1", "max,sve-max-vq=2", "max,sve-max-vq=4",
		"max,sve-max-vq=16,sve-default-vector-length=256",
	} {
		t.Run("cpu="+cpu, func(t *testing.T) {
			binary.Run(t, cpu, nil, "-test.short")
		})
	}
}

// TestInstructions counts the instructions of a permutation: those of 16 states less
// those of 8, which leaves out what a call costs.
func TestInstructions(t *testing.T) {
	const golden = "testdata/instructions_sve.csv"
	binary := qemutest.Build(t)
	var got strings.Builder
	got.WriteString("# Instructions executed for a permutation, under QEMU: go test -run Instructions -update\nkernel,bits,instructions\n")
	for _, k := range []struct{ name, symbol string }{{"sve", "permuteSVE"}, {"sve2", "permuteSVE2"}} {
		for _, quadwords := range []int{1, 2, 4} {
			count := func(states int) int {
				return binary.Count(t, fmt.Sprintf("max,sve-max-vq=%d", quadwords), "github.com/zkbench/zkbench/goldilocks/poseidon."+k.symbol+".abi0",
					[]string{fmt.Sprintf("ZKBENCH_COUNT=%s %d", k.name, states)}, "-test.run=^TestCounted$")
			}
			fmt.Fprintf(&got, "%s,%d,%g\n", k.name, 128*quadwords, float64(count(16)-count(8))/8)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the counts changed (-want +got):\n%s", diff)
	}
}
