//go:build !purego

package poseidon

import "github.com/zkbench/zkbench/goldilocks"

// permuteSVE permutes count states. Each state starts as zeros; the first loaded elements come from
// src and, if chained is not 0, the capacity from dst. permuteSVE sets the first stored elements of
// dst, 4 or 12. Strides are the bytes from one state to the next.
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

// table holds the round constants in the order in which the kernels add them:
//
//   - for all elements, the constants of the first four rounds and of the first partial round;
//   - for the first element, the constants of the other partial rounds and a zero;
//   - for all elements, the constants of the last four rounds and zeros.
//
// In a partial round the other elements meet no S-box. Their constants are added later, after the
// linear layers that they would go through.
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

// permuteStrided calls the kernel's function.
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

// columnsWide handles no digests here: PermuteAll permutes the states of all digests together.
func columnsWide(goldilocks.Kernel, []Digest, [][]goldilocks.Element) int { return 0 }
