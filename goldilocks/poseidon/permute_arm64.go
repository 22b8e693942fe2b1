//go:build !purego

package poseidon

import "github.com/zkbench/zkbench/goldilocks"

// permuteSVE permutes count states of zeros, of which the first elements, as many as
// loaded says, come from src and, where chained is not 0, the capacity from dst; it sets
// the first elements of dst, as many as stored says: 4 or 12. Strides are from a state to
// the next, in bytes.
//
//go:noescape
func permuteSVE(dst, src *goldilocks.Element, count, dstStride, srcStride, loaded, chained, stored int, table *[tableLen]goldilocks.Element)

//go:noescape
func permuteSVE2(dst, src *goldilocks.Element, count, dstStride, srcStride, loaded, chained, stored int, table *[tableLen]goldilocks.Element)

const (
	elementSize = 8
	digestSize  = elementSize * DigestLen
	stateSize   = elementSize * Width
	tableLen    = FullRounds*Width + Width + PartialRounds + Width
)

// table is the round constants in the order in which the kernels add them: to all
// elements those of the first four rounds and of the first partial one; to the first
// element those of the other partial rounds and a zero; to all elements those of the last
// four rounds and zeros.
//
// The other elements of a partial round meet no S-box: their constants are added later,
// as what the linear layer makes of them.
var table = func() (t [tableLen]goldilocks.Element) {
	const first, last = FullRounds / 2, FullRounds/2 + PartialRounds
	next := t[:0]
	for _, r := range roundConstants[:first+1] {
		next = append(next, r[:]...)
	}
	var late State
	for _, r := range roundConstants[first+1 : last] {
		for i := range late {
			late[i] = late[i].Add(r[i])
		}
		next = append(next, late[0])
		late[0] = 0
		late.mix()
	}
	next = append(next, 0)
	for i, c := range roundConstants[last] {
		next = append(next, late[i].Add(c))
	}
	for _, r := range roundConstants[last+1:] {
		next = append(next, r[:]...)
	}
	return t
}()

// permuteStrided runs the kernel's function.
func permuteStrided(k goldilocks.Kernel, dst, src *goldilocks.Element, count, dstStride, srcStride, loaded, chained, stored int) {
	if k.String() == "sve" {
		permuteSVE(dst, src, count, dstStride, srcStride, loaded, chained, stored, &table)
	} else {
		permuteSVE2(dst, src, count, dstStride, srcStride, loaded, chained, stored, &table)
	}
}

func permuteWide(k goldilocks.Kernel, states []State) int {
	if k.String() == "portable" || len(states) == 0 {
		return 0
	}
	s := &states[0][0]
	permuteStrided(k, s, s, len(states), stateSize, stateSize, Width, 0, Width)
	return len(states)
}

func compressWide(k goldilocks.Kernel, dst, pairs []Digest) int {
	if k.String() == "portable" || len(dst) == 0 {
		return 0
	}
	permuteStrided(k, &dst[0][0], &pairs[0][0], len(dst), digestSize, 2*digestSize, 2*DigestLen, 0, DigestLen)
	return len(dst)
}

func leavesWide(k goldilocks.Kernel, dst []Digest, leaves []goldilocks.Element, width int) int {
	if k.String() == "portable" || len(dst) == 0 || width <= DigestLen {
		return 0
	}
	for done := 0; done < width; done += Rate {
		chained := min(done, 1)
		permuteStrided(k, &dst[0][0], &leaves[done], len(dst), digestSize, elementSize*width, min(Rate, width-done), chained, DigestLen)
	}
	return len(dst)
}

// columnsWide does none here: states are permuted together.
func columnsWide(goldilocks.Kernel, []Digest, [][]goldilocks.Element) int { return 0 }
