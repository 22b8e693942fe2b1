package main

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/goldilocks/internal/gen/arm64"
)

// countsAMD64 returns the instructions in one pass of each loop in vector_amd64.s.
func countsAMD64() (all []arm64.Count) {
	for _, w := range slices.Backward(widths) {
		for _, l := range slices.Concat(vectorLoops, studyLoops) {
			var out bytes.Buffer
			l.write(&out, w.name, w.lanes)
			_, pass, _ := strings.Cut(out.String(), "\nloop:\n")
			pass, _, _ = strings.Cut(pass, "\tVZEROUPPER\n")
			c := countPass(pass)
			c.Kernel, c.Function = strings.ToLower(w.name), l.name
			if l.name == "dot" {
				c.Registers = 1 // counts operands: its sums stay in registers
			}
			all = append(all, c)
		}
	}
	return all
}

// countPass counts the lines of one pass. Its stores count its results.
func countPass(pass string) (c arm64.Count) {
	for line := range strings.Lines(pass) {
		mnemonic, operands, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case !strings.HasPrefix(mnemonic, "V"):
			c.Control++
		case !isMove(mnemonic) || !strings.Contains(operands, "("):
			c.Compute++
		default:
			c.Memory++
			if strings.HasSuffix(operands, ")") {
				c.Registers++
			}
		}
	}
	return c
}

// isMove reports whether an instruction computes nothing. With an address among its operands it is
// a load or a store.
func isMove(mnemonic string) bool {
	return strings.HasPrefix(mnemonic, "VMOV") || strings.HasPrefix(mnemonic, "VPBROADCAST") || strings.HasPrefix(mnemonic, "VBROADCAST")
}
