package poseidon

import (
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench/goldilocks"
)

// chosen returns the kernel for a call that may name one. The zero Kernel is the fastest.
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

// CompressAll sets dst[i] to Compress(pairs[2*i], pairs[2*i+1]). It panics unless pairs has twice
// as many digests as dst. dst may be the beginning of pairs.
func CompressAll(dst, pairs []Digest, on ...goldilocks.Kernel) {
	if len(pairs) != 2*len(dst) {
		panic(fmt.Sprintf("poseidon: %d digests from %d, accepted are twice as many", len(dst), len(pairs)))
	}
	n := compressWide(chosen(on), dst, pairs)
	for i := n; i < len(dst); i++ {
		dst[i] = Compress(pairs[2*i], pairs[2*i+1])
	}
}

// LeavesAll sets dst[i] to LinearHash(leaves[i*width : (i+1)*width]). It panics unless leaves has
// width times as many elements as dst has digests.
func LeavesAll(dst []Digest, leaves []goldilocks.Element, width int, on ...goldilocks.Kernel) {
	// The product may wrap, the quotient does not.
	if width < 0 || len(leaves) != len(dst)*width || len(dst) > 0 && len(leaves)/len(dst) != width {
		panic(fmt.Sprintf("poseidon: %d leaves of %d elements from %d elements", len(dst), width, len(leaves)))
	}
	n := leavesWide(chosen(on), dst, leaves, width)
	for i := n; i < len(dst); i++ {
		dst[i] = LinearHash(leaves[i*width : (i+1)*width])
	}
}

// ColumnsAll sets dst[i] to HashNoPad(columns[0][i], columns[1][i], ...). It panics if a column is
// shorter than dst.
func ColumnsAll(dst []Digest, columns [][]goldilocks.Element, on ...goldilocks.Kernel) {
	for i, c := range columns {
		if len(c) < len(dst) {
			panic(fmt.Sprintf("poseidon: %d digests from column %d with %d elements", len(dst), i, len(c)))
		}
	}
	n := columnsWide(chosen(on), dst, columns)
	states := make([]State, len(dst)-n)
	for from := 0; from < len(columns); from += Rate {
		for at, c := range columns[from:min(from+Rate, len(columns))] {
			for i := range states {
				states[i][at] = c[n+i]
			}
		}
		PermuteAll(states, on...)
	}
	for i := range states {
		dst[n+i] = Digest(states[i][:DigestLen])
	}
}

// schedule holds the round constants in the order and form in which the kernels read them, except
// on arm64. Partial rounds add a constant to the first element only. The constants of the other
// elements go through the linear layers to the end of the partial rounds.
type schedule struct {
	first   [Width]goldilocks.Element
	before  [FullRounds / 2][Width]uint64 // after each of the first full rounds
	partial [PartialRounds - 1]expanded   // after each partial round but the last
	exit    [Width]expanded               // after the last
	after   [FullRounds / 2][Width]uint64 // after each of the last full rounds; 2^63 after the last
}

// expanded is low + high 2^32, with low in [2^61, 2^61 + 2^32) and high in [2^60, 2^60 + 2^32).
// Adding it to a number's two parts makes them positive if they are above -2^60.
type expanded struct{ low, high uint64 }

func expand(c goldilocks.Element) expanded {
	// c - 2^61 - 2^92 is below p < 2^64: its upper half goes to high, its lower to low.
	_, shifted := bits.Div64(1<<28, 1<<61, goldilocks.Modulus)
	rest := uint64(c.Sub(goldilocks.Element(shifted)))
	return expanded{1<<61 + rest&(1<<32-1), 1<<60 + rest>>32}
}

var constants = newSchedule()

func newSchedule() (w schedule) {
	w.first = roundConstants[0]
	for i := range Width {
		for r := range FullRounds / 2 {
			w.before[r][i] = uint64(roundConstants[r+1][i])
		}
		for r := range FullRounds/2 - 1 {
			w.after[r][i] = uint64(roundConstants[rounds-FullRounds/2+1+r][i])
		}
		w.after[FullRounds/2-1][i] = 1 << 63
	}
	var carried State
	for r := range PartialRounds {
		carried[0] = 0
		carried.mix()
		for i, c := range roundConstants[FullRounds/2+1+r] {
			carried[i] = carried[i].Add(c)
		}
		if r < PartialRounds-1 {
			w.partial[r] = expand(carried[0])
		}
	}
	for i, c := range carried {
		w.exit[i] = expand(c)
	}
	return w
}
