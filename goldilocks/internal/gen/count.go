package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/goldilocks/internal/gen/arm64"
)

// instructions is a table of what one pass of each function's loop has, on every kernel.
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
