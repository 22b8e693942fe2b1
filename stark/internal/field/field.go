// Package field is the interface through which package stark computes in a field: elements and extension
// elements as values, vectors of elements, and transforms. The arithmetic of Goldilocks comes from package
// goldilocks, and that of KoalaBear from gnark-crypto. The rest of package stark depends on neither of the
// two fields.
package field

import (
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/arith/step"
)

// Element is an element of a field. Inverse returns 0 for 0. Canonical reports whether the element's
// representation is below the field's order.
type Element[E any] interface {
	comparable
	Add(E) E
	Sub(E) E
	Mul(E) E
	Inverse() E
	Canonical() bool
}

// Extension is an element of an extension, as coordinates of a basis that begins with 1. Inverse returns 0
// for 0.
type Extension[E comparable, X any] interface {
	~[2]E | ~[3]E | ~[4]E | ~[6]E
	comparable
	Add(X) X
	Sub(X) X
	Mul(X) X
	MulBase(E) X
	Inverse() X
}

// Field is a field together with the extension from which challenges are drawn. The slices that a vector
// operation takes have the same length. The slice dst may be one of the operands, but must not overlap a
// part of an operand.
type Field[E Element[E], X Extension[E, X]] interface {
	Name() string
	Order() uint64       // the number of elements
	TwoAdicity() int     // there are roots of unity of order 2^TwoAdicity
	Bytes() int          // length of an element, in memory and in proofs
	Generator() E        // of the multiplicative group
	Root(log int) E      // root of unity of order 2^log; the square of Root(log+1) is Root(log)
	New(v uint64) E      // v modulo Order
	Uint64(e E) uint64   // e as a number below Order
	Word(e E) uint64     // e's representation in memory
	OfWord(w uint64) E   // the element with the representation w; not Canonical if w represents no element
	FromWords(cells []E) // turns numbers below Order into elements, in place

	Add(dst, a, b []E)
	Sub(dst, a, b []E)
	Mul(dst, a, b []E)
	// Steps runs steps on registers, one after the other. All registers that steps name must have as many elements
	// as the parameter rows says.
	Steps(registers [][]E, steps []step.Step, rows int)
	Pack(dst []E, a [][]E) // the sum of 2^j a[j]; a has at most MaxPack vectors, and dst must not be one of them
	MulScalar(dst, a []E, c E)
	MulAdd(dst, a []E, c E, scratch []E) // dst += c a
	// AddProducts adds to dst the sum of x[i] a[i] for all i. The slice scratch and each a[i] are as long as
	// dst.
	AddProducts(dst Vector[E], a [][]E, x []X, scratch []E)
	// Butterflies computes s layers of a transform on 2^s vectors, row by row. The number s is between 1 and
	// Layers, and src may be dst. Layer j has the factors w[2^j-1+i] for i below 2^j. For each i and b it
	// takes two vectors, x at index 2^(j+1) b + i and y at an index 2^j higher. It replaces them by x + w y
	// and x - w y, where w is factor i.
	Butterflies(dst, src, w [][]E)
	Layers() int        // maximum number of layers that Butterflies computes at once
	Inverse(dst, a []E) // the inverse of 0 is 0
	// Sums sets each dst[i] to sum plus the elements of a before a[i]. It returns sum plus all elements of a.
	Sums(dst, a []E, sum E) E
	// Dots sets each dst[k] to the sum of a[i] b[k][i].
	Dots(dst, a []E, b Vector[E])

	// Transform returns the transform of length 2^log, or zkbench.ErrParams if the field has none.
	Transform(log int) (Transform[E], error)
}

// MaxPack is the maximum number of vectors that Pack takes.
const MaxPack = goldilocks.MaxPack

// Transform transforms vectors of one length. Values are in natural order and coefficients in bit-reversed
// order, so that nothing has to be permuted.
type Transform[E any] interface {
	// Interpolate replaces the values at the roots of unity by the polynomial's coefficients.
	Interpolate(values []E)
	// Evaluate replaces coefficients by values; it is the inverse of Interpolate.
	Evaluate(coefficients []E)
}

// Power returns e^n. The first argument must be the element 1 of the field.
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

// butterflies computes Butterflies for the rows from from on, by operations on whole vectors.
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

// Append appends the lowest bytes of a word to b, the least significant byte first. The last argument is
// the number of bytes to append.
func Append(b []byte, word uint64, bytes int) []byte {
	for range bytes {
		b = append(b, byte(word))
		word >>= 8
	}
	return b
}

// Read returns the word whose bytes Append has written to b.
func Read(b []byte) (word uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		word = word<<8 | uint64(b[i])
	}
	return word
}
