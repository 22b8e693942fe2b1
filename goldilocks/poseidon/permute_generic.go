//go:build purego || (!amd64 && !arm64)

package poseidon

import "github.com/zkbench/zkbench/goldilocks"

// Each says how many of the first it has done: none here.

func permuteWide(k goldilocks.Kernel, states []State) int       { return 0 }
func compressWide(k goldilocks.Kernel, dst, pairs []Digest) int { return 0 }

func leavesWide(k goldilocks.Kernel, dst []Digest, leaves []goldilocks.Element, width int) int {
	return 0
}

// columnsWide does none here: states are permuted together.
func columnsWide(goldilocks.Kernel, []Digest, [][]goldilocks.Element) int { return 0 }
