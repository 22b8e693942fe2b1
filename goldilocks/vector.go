package goldilocks

import "fmt"

//go:generate go run ./internal/gen

// The operations on vectors. Their slices are of one length, or they panic; dst may be an
// operand, but not overlap one otherwise.

// Add sets dst[i] = a[i] + b[i].
func (k Kernel) Add(dst, a, b []Element) {
	sameLength(len(dst), len(a), len(b))
	n := k.addWide(dst, a, b)
	addPortable(dst[n:], a[n:], b[n:])
}

// Sub sets dst[i] = a[i] - b[i].
func (k Kernel) Sub(dst, a, b []Element) {
	sameLength(len(dst), len(a), len(b))
	n := k.subWide(dst, a, b)
	subPortable(dst[n:], a[n:], b[n:])
}

// Mul sets dst[i] = a[i] b[i].
func (k Kernel) Mul(dst, a, b []Element) {
	sameLength(len(dst), len(a), len(b))
	n := k.mulWide(dst, a, b)
	mulPortable(dst[n:], a[n:], b[n:])
}

// MulAdd sets dst[i] += a[i] b[i].
func (k Kernel) MulAdd(dst, a, b []Element) {
	sameLength(len(dst), len(a), len(b))
	n := k.mulAddWide(dst, a, b)
	mulAddPortable(dst[n:], a[n:], b[n:])
}

// Square sets dst[i] = a[i]^2.
func (k Kernel) Square(dst, a []Element) {
	sameLength(len(dst), len(a), len(a))
	n := k.squareWide(dst, a)
	squarePortable(dst[n:], a[n:])
}

// Neg sets dst[i] = -a[i].
func (k Kernel) Neg(dst, a []Element) {
	sameLength(len(dst), len(a), len(a))
	n := k.negWide(dst, a)
	negPortable(dst[n:], a[n:])
}

// MulScalar sets dst[i] = c a[i].
func (k Kernel) MulScalar(dst, a []Element, c Element) {
	sameLength(len(dst), len(a), len(a))
	n := k.mulScalarWide(dst, a, c)
	mulScalarPortable(dst[n:], a[n:], c)
}

// Reduce128 sets dst[i] = hi[i] 2^64 + lo[i], of any hi and lo.
func (k Kernel) Reduce128(dst []Element, hi, lo []uint64) {
	sameLength(len(dst), len(hi), len(lo))
	n := k.reduce128Wide(dst, hi, lo)
	reduce128Portable(dst[n:], hi[n:], lo[n:])
}

// Dot is the sum of a[i] b[i].
func (k Kernel) Dot(a, b []Element) Element {
	sameLength(len(a), len(b), len(b))
	sum, n := k.dotWide(a, b)
	return sum.Add(dotPortable(a[n:], b[n:]))
}

// inverseBlock is how many elements share one inversion: the inversion's 73 dependent
// multiplications are little beside the three of each element, and the block's tree lies
// in the first-level cache.
const inverseBlock = 1024

// BatchInverse sets dst[i] = 1/a[i], that of 0 being 0.
func (k Kernel) BatchInverse(dst, a []Element) {
	sameLength(len(dst), len(a), len(a))
	for len(a) > 1 {
		n := min(len(a), inverseBlock)
		k.inverseBlock(dst[:n], a[:n])
		dst, a = dst[n:], a[n:]
	}
	if len(a) == 1 {
		dst[0] = a[0].Inverse() // without the tree, whose memory takes time to clear
	}
}

// inverseBlock inverts by a tree of products: 1/x is y/(xy). Each level is a vector half
// as long as the one before, its elements products of the lower half by the upper one, so
// that every kernel's lanes are full down to its own width.
func (k Kernel) inverseBlock(dst, a []Element) {
	var tree [2 * inverseBlock]Element
	var zeros [inverseBlock]bool
	level := tree[:len(a)]
	for i, e := range a {
		zeros[i] = e == 0
		if e == 0 {
			e = 1
		}
		level[i] = e
	}
	var levels [16][]Element
	depth := 0
	levels[0] = level
	rest := tree[len(a):]
	for ; len(level) > 1; levels[depth] = level {
		half := len(level) / 2
		next := rest[:half+len(level)%2]
		k.Mul(next[:half], level[:half], level[half:2*half])
		if len(level)%2 != 0 {
			next[half] = level[2*half]
		}
		rest, level = rest[len(next):], next
		depth++
	}
	level[0] = level[0].Inverse()
	for i := depth - 1; i >= 0; i-- {
		above, here := levels[i+1], levels[i]
		half := len(here) / 2
		low, high := here[:half], here[half:2*half]
		// above is 1/(low high). dst holds 1/high until low is read: nothing needs it yet,
		// since a has been read.
		k.Mul(dst[:half], low, above[:half])
		k.Mul(low, high, above[:half])
		copy(high, dst[:half])
		if len(here)%2 != 0 {
			here[2*half] = above[half]
		}
	}
	for i, e := range levels[0] {
		if zeros[i] {
			e = 0
		}
		dst[i] = e
	}
}

func sameLength(a, b, c int) {
	if a != b || a != c {
		panic(fmt.Sprintf("goldilocks: vectors of %d, %d and %d elements", a, b, c))
	}
}
