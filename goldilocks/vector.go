package goldilocks

import "fmt"

//go:generate go run ./internal/gen

// The operations on vectors. They panic if the slices differ in length. dst may be an
// operand, but must not overlap one in any other way. They run on the fastest kernel, or on
// the one that the call names.

// Add sets dst[i] = a[i] + b[i].
func Add(dst, a, b []Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(b))
	n := chosen(on).addWide(dst, a, b)
	addPortable(dst[n:], a[n:], b[n:])
}

// Sub sets dst[i] = a[i] - b[i].
func Sub(dst, a, b []Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(b))
	n := chosen(on).subWide(dst, a, b)
	subPortable(dst[n:], a[n:], b[n:])
}

// Mul sets dst[i] = a[i] * b[i].
func Mul(dst, a, b []Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(b))
	n := chosen(on).mulWide(dst, a, b)
	mulPortable(dst[n:], a[n:], b[n:])
}

// MulAdd sets dst[i] += a[i] * b[i].
func MulAdd(dst, a, b []Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(b))
	n := chosen(on).mulAddWide(dst, a, b)
	mulAddPortable(dst[n:], a[n:], b[n:])
}

// Xor sets dst[i] = a[i] + b[i] - 2*a[i]*b[i]. For bits, this is their exclusive or.
func Xor(dst, a, b []Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(b))
	n := chosen(on).xorWide(dst, a, b)
	xorPortable(dst[n:], a[n:], b[n:])
}

// AndNot sets dst[i] = a[i] * (1 - b[i]). For bits, this is (not b[i]) and a[i].
func AndNot(dst, a, b []Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(b))
	n := chosen(on).andNotWide(dst, a, b)
	andNotPortable(dst[n:], a[n:], b[n:])
}

// MaxPack is the maximum number of vectors that Pack takes.
const MaxPack = 32

// Pack sets dst[i] to the sum of 2^j * a[j][i] over all j. If the a[j][i] are bits, this is the
// number that they represent. Pack panics if a does not have 1 to MaxPack vectors. None of these
// vectors may be dst.
func Pack(dst []Element, a [][]Element, on ...Kernel) {
	if len(a) == 0 || len(a) > MaxPack {
		panic(fmt.Sprintf("goldilocks: %d vectors to pack, accepted are 1 to %d", len(a), MaxPack))
	}
	for _, v := range a {
		sameLength(len(dst), len(v), len(v))
	}
	packPortable(dst, a, chosen(on).packWide(dst, a))
}

// MaxLayers is the maximum number of layers that Butterflies computes.
const MaxLayers = 2

// Butterflies computes one layer of a transform on two vectors, or two layers on four vectors, row
// by row. A row consists of the elements with the same index in all vectors. Layer j, for j = 0 or
// 1, works on pairs of vectors. A pair consists of the vectors x and y with the indices u and
// u + 2^j, where u = 2^(j+1)*b + i for integers b >= 0 and i from 0 to 2^j - 1. With the factors
// f = w[2^j-1+i], layer j computes x + f*y in the place of x, and x - f*y in the place of y. The
// parameters src and dst may be the same. All vectors must have the same length.
func Butterflies(dst, src, w [][]Element, on ...Kernel) {
	if n := len(dst); n != 2 && n != 4 || len(src) != n || len(w) != n-1 {
		panic(fmt.Sprintf("goldilocks: butterflies of %d vectors and %d factors to %d, accepted are 2 and 1 to 2, 4 and 3 to 4", len(src), len(w), len(dst)))
	}
	for i := range dst {
		sameLength(len(dst[0]), len(dst[i]), len(src[i]))
		sameLength(len(dst[0]), len(w[min(i, len(w)-1)]), len(dst[0]))
	}
	k := chosen(on)
	from := k.butterfliesWide(dst, src, w)
	scratch := make([]Element, len(dst[0])-from)
	for half := 1; half < len(dst) && len(scratch) > 0; half *= 2 {
		for at := range dst {
			if at&half != 0 {
				continue
			}
			Mul(scratch, src[at+half][from:], w[half-1+at&(half-1)][from:], k)
			even := src[at][from:]
			Sub(dst[at+half][from:], even, scratch, k)
			Add(dst[at][from:], even, scratch, k)
		}
		src = dst
	}
}

// Square sets dst[i] = a[i]^2.
func Square(dst, a []Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(a))
	n := chosen(on).squareWide(dst, a)
	squarePortable(dst[n:], a[n:])
}

// Neg sets dst[i] = -a[i].
func Neg(dst, a []Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(a))
	n := chosen(on).negWide(dst, a)
	negPortable(dst[n:], a[n:])
}

// MulScalar sets dst[i] = c * a[i].
func MulScalar(dst, a []Element, c Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(a))
	n := chosen(on).mulScalarWide(dst, a, c)
	mulScalarPortable(dst[n:], a[n:], c)
}

// MulAddScalar sets dst[i] += c * a[i].
func MulAddScalar(dst, a []Element, c Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(a))
	n := chosen(on).mulAddScalarWide(dst, a, c)
	mulAddScalarPortable(dst[n:], a[n:], c)
}

// AddProducts adds to each dst[k][i] the sum of c[j*len(dst)+k] * a[j][i] over all j. The slice c
// has len(dst) factors for each vector of a.
func AddProducts(dst, a [][]Element, c []Element, on ...Kernel) {
	if len(dst) == 0 || len(c) != len(a)*len(dst) {
		panic(fmt.Sprintf("goldilocks: %d factors of %d vectors to %d sums", len(c), len(a), len(dst)))
	}
	for _, v := range dst {
		sameLength(len(dst[0]), len(v), len(v))
	}
	for _, v := range a {
		sameLength(len(dst[0]), len(v), len(v))
	}
	k := chosen(on)
	from := k.addProductsWide(dst, a, c)
	for j, v := range a {
		for i, sum := range dst {
			if from < len(sum) {
				MulAddScalar(sum[from:], v[from:], c[j*len(dst)+i], k)
			}
		}
	}
}

// Dot returns the sum of a[i] * b[i].
func Dot(a, b []Element, on ...Kernel) Element {
	sameLength(len(a), len(b), len(b))
	sum, n := chosen(on).dotWide(a, b)
	return sum.Add(dotPortable(a[n:], b[n:]))
}

// inverseBlock is the number of elements that share one inversion. The inversion's 73 dependent
// multiplications are few compared with three for each element, and the block's tree fits in the
// first-level cache.
const inverseBlock = 1024

// BatchInverse sets dst[i] = 1/a[i], or 0 if a[i] is 0.
func BatchInverse(dst, a []Element, on ...Kernel) {
	sameLength(len(dst), len(a), len(a))
	k := chosen(on)
	for len(a) > 1 {
		n := min(len(a), inverseBlock)
		k.inverseBlock(dst[:n], a[:n])
		dst, a = dst[n:], a[n:]
	}
	if len(a) == 1 {
		dst[0] = a[0].Inverse() // without the tree, whose memory takes time to clear
	}
}

// inverseBlock inverts by a tree of products: 1/x is y/(xy). Each level is a vector half as long as
// the level before, whose lower half it multiplies by the upper one. So every kernel's lanes are
// full, down to its own width.
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
		Mul(next[:half], level[:half], level[half:2*half], k)
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
		Mul(dst[:half], low, above[:half], k)
		Mul(low, high, above[:half], k)
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
