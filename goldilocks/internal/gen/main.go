// Command gen writes the assembly of package goldilocks and of the packages below it. Run it with
// "go generate" in the folder of package goldilocks. A test checks that the files in the
// repository are those that gen writes.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/zkbench/zkbench/goldilocks/internal/gen/arm64"
)

// outputs maps each file, relative to package goldilocks, to the function that writes it.
var outputs = map[string]func() []byte{
	"vector_amd64.s":           vectorAMD64,
	"ntt_amd64.s":              nttAMD64,
	"poseidon/permute_amd64.s": permuteAMD64,
	"vector_arm64.s":           arm64.Vector,
	"poseidon/permute_arm64.s": arm64.Permutation,

	"../stark/internal/field/goldilocks_amd64.s":    stepsAMD64,
	"../internal/workload/sve/wide_amd64.s":         studyAMD64,
	"../internal/workload/sve/wide_arm64.s":         arm64.Study,
	"../internal/study/sve/counts/instructions.csv": instructions,
}

func main() {
	for name, source := range outputs {
		if err := os.WriteFile(filepath.FromSlash(name), source(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}

// instructions returns a table of the instructions in one pass of each function's loop, on every
// kernel.
func instructions() []byte {
	var b bytes.Buffer
	b.WriteString("# Instructions of one pass of a function's loop: go generate ./goldilocks\n")
	b.WriteString("# registers: of results that a pass makes; of dot, of operands that it takes.\n")
	b.WriteString("kernel,function,registers,compute,memory,control\n")
	for _, c := range slices.Concat(countsAMD64(), arm64.Counts()) {
		fmt.Fprintf(&b, "%s,%s,%d,%d,%d,%d\n", c.Kernel, c.Function, c.Registers, c.Compute, c.Memory, c.Control)
	}
	return b.Bytes()
}
