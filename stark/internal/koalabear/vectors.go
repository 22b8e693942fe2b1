package koalabear

import (
	gnark "github.com/consensys/gnark-crypto/field/koalabear"

	"github.com/zkbench/zkbench/internal/arith/step"
)

// Sums sets each dst[i] to sum plus the elements of a before a[i], and returns sum plus all elements of a. The
// slice dst may be a, and must not be shorter.
func Sums(dst, a []Element, sum Element) Element {
	dst, total := dst[:len(a)], sum[0]
	for i, e := range a {
		dst[i][0] = total
		total += e[0] // below 2 Modulus < 2^32
		if less := total - Modulus; total >= Modulus {
			total = less
		}
	}
	return Element{total}
}

// Inverse sets each dst[i] to 1/a[i], or to 0 if a[i] is 0. The slice dst may be a, and must be as long.
func Inverse(dst, a []Element) {
	scratch := make([]Element, 2*len(a))
	copy(dst, a)
	one := New(1)
	var zeros []int
	for i, e := range a {
		if e == (Element{}) {
			zeros, dst[i] = append(zeros, i), one
		}
	}
	invert(dst, scratch)
	for _, i := range zeros {
		dst[i] = Element{}
	}
}

// fewest is the number of elements below which inverting in halves is not faster. It is twice the width of a
// register of a kernel.
const fewest = 32

// invert replaces elements by their inverses, none of them 0. The slice scratch is twice as long as a. With a
// product x y of two elements inverted, 1/x is y/(x y). So vectors of half the length take three products, and
// half as many elements are left to invert.
func invert(a, scratch []Element) {
	if len(a) < fewest || len(a)%2 != 0 {
		copy(Vector(a), gnark.BatchInvert(Vector(a)))
		return
	}
	half := len(a) / 2
	low, high, products := a[:half], a[half:], scratch[:half]
	Apply(step.Mul, products, low, high)
	invert(products, scratch[half:])
	swapped := scratch[half:][:half]
	Apply(step.Mul, swapped, products, high)
	Apply(step.Mul, high, products, low)
	copy(low, swapped)
}
