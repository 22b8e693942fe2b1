package poseidon

import (
	"fmt"

	"github.com/zkbench/zkbench/goldilocks"
)

// chosen is the kernel of a call that may name one: without, the fastest.
func chosen(on []goldilocks.Kernel) (k goldilocks.Kernel) {
	if len(on) > 0 {
		k = on[len(on)-1]
	}
	return k
}

// PermuteAll permutes each state.
func PermuteAll(states []State, on ...goldilocks.Kernel) {
	n := permuteWide(chosen(on), states)
	for i := range states[n:] {
		states[n+i].Permute()
	}
}

// CompressAll sets dst[i] to Compress(pairs[2i], pairs[2i+1]). Other than twice as many
// pairs as digests panic; dst may be the beginning of pairs.
func CompressAll(dst, pairs []Digest, on ...goldilocks.Kernel) {
	if len(pairs) != 2*len(dst) {
		panic(fmt.Sprintf("poseidon: %d digests of %d", len(dst), len(pairs)))
	}
	n := compressWide(chosen(on), dst, pairs)
	for i := n; i < len(dst); i++ {
		dst[i] = Compress(pairs[2*i], pairs[2*i+1])
	}
}

// LeavesAll sets dst[i] to LinearHash(leaves[i width : (i+1) width]). Other than width
// elements for each digest panic.
func LeavesAll(dst []Digest, leaves []goldilocks.Element, width int, on ...goldilocks.Kernel) {
	// The product may wrap, the quotient does not.
	if width < 0 || len(leaves) != len(dst)*width || len(dst) > 0 && len(leaves)/len(dst) != width {
		panic(fmt.Sprintf("poseidon: %d leaves of %d elements in %d", len(dst), width, len(leaves)))
	}
	n := leavesWide(chosen(on), dst, leaves, width)
	for i := n; i < len(dst); i++ {
		dst[i] = LinearHash(leaves[i*width : (i+1)*width])
	}
}
