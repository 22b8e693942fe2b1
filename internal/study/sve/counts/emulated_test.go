//go:build linux && !arm64

package counts_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/study/sve/counts"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/qemutest"
	"github.com/zkbench/zkbench/internal/workload/sve"
)

var update = flag.Bool("update", false, "rewrite the counts of what is executed")

const executed = "# Instructions executed for a %s, under QEMU: go test ./internal/study/sve/counts -run Executed -update\n"

// TestExecuted counts the instructions of a permutation and of a unit of each function: those
// of 64 less those of 32, which leaves out what a call costs.
func TestExecuted(t *testing.T) {
	t.Parallel()
	binary := qemutest.Build(t)
	var permutations, units strings.Builder
	fmt.Fprintf(&permutations, executed+"kernel,bits,instructions\n", "permutation")
	fmt.Fprintf(&units, executed+"kernel,bits,function,instructions\n", "unit of a function")
	for _, kernel := range kernels {
		names := functions(kernel)
		suffix := strings.ToUpper(kernel) + ".abi0"
		symbols := []string{"github.com/zkbench/zkbench/goldilocks/poseidon.permute" + suffix}
		for _, name := range names {
			room := "internal/workload/sve."
			if slices.Contains([]string{"add", "sub", "square"}, name) {
				room = "goldilocks." // a vector operation
			}
			symbols = append(symbols, "github.com/zkbench/zkbench/"+room+counts.Symbol(name)+suffix)
		}
		for _, bits := range widths {
			count := func(n int) []int {
				return binary.Count(t, processor(bits), symbols, []string{fmt.Sprintf("ZKBENCH_COUNT=%s %d", kernel, n)}, "-test.run=^TestCounted$")
			}
			few, many := count(32), count(64)
			for i := range symbols {
				each := float64(many[i]-few[i]) / 32
				if i == 0 {
					fmt.Fprintf(&permutations, "%s,%d,%g\n", kernel, bits, each)
				} else {
					fmt.Fprintf(&units, "%s,%d,%s,%g\n", kernel, bits, names[i-1], each)
				}
			}
		}
	}
	counted(t, "permutation.csv", permutations.String())
	counted(t, "functions.csv", units.String())
}

// TestTransforms counts the instructions of the passes of a transform of 2^12 elements; what
// calls them, some hundreds more, is left out.
func TestTransforms(t *testing.T) {
	t.Parallel()
	binary := qemutest.Build(t)
	var got strings.Builder
	got.WriteString("# Instructions of the passes of a transform of 2^12, under QEMU: go test ./internal/study/sve/counts -run Transforms -update\nkernel,bits,from,instructions\n")
	for _, kernel := range kernels {
		var symbols []string
		for _, name := range []string{"butterflies", "transposed", "nttMiddleTo", "nttMiddleFrom", "nttStride4To", "nttStride4From", "nttStride1To", "nttStride1From"} {
			symbols = append(symbols, "github.com/zkbench/zkbench/goldilocks."+name+strings.ToUpper(kernel)+".abi0")
		}
		for _, bits := range widths {
			for _, from := range []goldilocks.Order{goldilocks.Natural, goldilocks.BitReversed} {
				sum := 0
				for _, n := range binary.Count(t, processor(bits), symbols, []string{fmt.Sprintf("ZKBENCH_TRANSFORM=%s %d", kernel, from)}, "-test.run=^TestTransformed$") {
					sum += n
				}
				fmt.Fprintf(&got, "%s,%d,%v,%d\n", kernel, bits, from, sum)
			}
		}
	}
	counted(t, "testdata/transforms.csv", got.String())
}

// processor returns QEMU's name of a processor with vectors of this width.
func processor(bits int) string {
	return fmt.Sprintf("max,sve-max-vq=%d,sve-default-vector-length=%d", bits/128, bits/8)
}

// functions returns the study's functions and, if a kernel of arm64 has it, the study's method for one of them.
func functions(kernel string) (names []string) {
	names = sve.Names()
	halves := "mult_128_halves"
	if counts.StaticOf(kernel, halves) != nil {
		names = append(names, halves)
	}
	return names
}

// counted compares counts with the file that contains them.
func counted(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		must.Do(t, os.WriteFile(name, []byte(got), 0o644))
	}
	golden.Equal(t, name, string(must.Get(os.ReadFile(name))(t)), got)
}
