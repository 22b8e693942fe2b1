// Package field is what provers and verifiers of package stark need of a field: elements and
// those of an extension by value, vectors of elements, and transforms. Goldilocks has it from
// package goldilocks, KoalaBear from gnark-crypto; the rest of package stark knows neither.
package field

import "github.com/zkbench/zkbench/goldilocks"

// Element is an element of a field.
type Element[E any] interface {
	comparable
	Add(E) E
	Sub(E) E
	Mul(E) E
	Inverse() E // that of 0 is 0
	Canonical() bool
}

// Extension is an element of an extension: coordinates of a base that begins with 1.
type Extension[E comparable, X any] interface {
	~[2]E | ~[3]E | ~[4]E | ~[6]E
	comparable
	Add(X) X
	Sub(X) X
	Mul(X) X
	MulBase(E) X
	Inverse() X // that of 0 is 0
}

// Field is a field with the extension from which challenges are drawn. Operations on vectors take
// slices of one length; dst may be an operand, and overlaps none otherwise.
type Field[E Element[E], X Extension[E, X]] interface {
	Name() string
	Order() uint64       // the number of elements
	TwoAdicity() int     // there are roots of unity of order 2^TwoAdicity
	Bytes() int          // of an element, in memory and in proofs
	Generator() E        // of the multiplicative group
	Root(log int) E      // of unity, of order 2^log; the square of Root(log+1) is Root(log)
	New(v uint64) E      // v modulo Order
	Uint64(e E) uint64   // below Order
	Word(e E) uint64     // what lies in memory
	OfWord(w uint64) E   // what lies in memory as w; not Canonical where that is no element
	FromWords(cells []E) // in place: from numbers below Order to the elements that they are

	Add(dst, a, b []E)
	Sub(dst, a, b []E)
	Mul(dst, a, b []E)
	Xor(dst, a, b []E)     // a + b - 2 a b, of bits the exclusive or
	AndNot(dst, a, b []E)  // a (1 - b), of bits a and not b
	Pack(dst []E, a [][]E) // the sum of 2^j a[j], of MaxPack at most; dst is none of them
	MulScalar(dst, a []E, c E)
	MulAdd(dst, a []E, c E, scratch []E) // dst += c a
	// AddProducts adds to dst the sum of x[i] a[i] for all i; scratch and each a[i] are as long as dst.
	AddProducts(dst Vector[E], a [][]E, x []X, scratch []E)
	// Butterflies are layers of a transform, on 2^s vectors, row by row: s is 1 to Layers, and src may be
	// dst. Layer j has the factors w[2^j-1+i], i below 2^j, and makes of the vectors at 2^(j+1) b + i and
	// 2^j further the sum and the difference of the first one and the factor times the second.
	Butterflies(dst, src, w [][]E)
	Layers() int        // that Butterflies does at once, at most
	Inverse(dst, a []E) // that of 0 is 0
	// Dots sets each dst[k] to the sum of a[i] b[k][i].
	Dots(dst, a []E, b Vector[E])

	// Transform is that of length 2^log.
	Transform(log int) (Transform[E], error)
}

// MaxPack is how many vectors Pack takes at most.
const MaxPack = goldilocks.MaxPack

// Transform is transforms of one length. Values are in natural order, coefficients in reversed
// order, so that none has to be moved.
type Transform[E any] interface {
	// Interpolate replaces values at the roots of unity by the polynomial's coefficients.
	Interpolate(values []E)
	// Evaluate is the inverse.
	Evaluate(coefficients []E)
}

// Power is e^n.
func Power[E interface{ Mul(E) E }](one, e E, n uint64) E {
	for r := one; ; e = e.Mul(e) {
		if n&1 != 0 {
			r = r.Mul(e)
		}
		if n >>= 1; n == 0 {
			return r
		}
	}
}

// butterflies is Butterflies from row from on, by whole vectors.
func butterflies[E Element[E], X Extension[E, X]](f Field[E, X], dst, src, w [][]E, from int) {
	rows := len(dst[0])
	if from == rows {
		return
	}
	scratch := make([]E, rows-from)
	for half := 1; half < len(dst); half *= 2 {
		for at := range dst {
			if at&half != 0 {
				continue
			}
			even, odd := src[at][from:rows], src[at+half][from:rows]
			f.Mul(scratch, odd, w[half-1+at&(half-1)][from:rows])
			low, high := dst[at][from:], dst[at+half][from:]
			f.Sub(high, even, scratch)
			f.Add(low, even, scratch)
		}
		src = dst
	}
}

// Append appends the low bytes of what lies in memory, the least significant first.
func Append(b []byte, word uint64, bytes int) []byte {
	for range bytes {
		b = append(b, byte(word))
		word >>= 8
	}
	return b
}

// Read is the word that Append has appended.
func Read(b []byte) (word uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		word = word<<8 | uint64(b[i])
	}
	return word
}
