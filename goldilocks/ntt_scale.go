package goldilocks

import "math/bits"

// scaleBlock is how many powers a progression keeps: they lie in the first-level cache.
const scaleBlock = 1 << 9

// progression is c s^i for i below a power of two: blocks of the same powers, each times
// one factor.
type progression struct{ powers, factors []Element }

// newProgression returns that of n elements in the given order.
func (k Kernel) newProgression(n int, order Order, c, s Element) (p progression) {
	m := min(n, scaleBlock)
	p.powers, p.factors = make([]Element, m), make([]Element, n/m)
	if order == Natural {
		k.setPowers(p.powers, 1, s)
		k.setPowers(p.factors, c, s.squares(bits.Len(uint(m))-1))
	} else {
		setReversedPowers(p.powers, 1, s.squares(bits.Len(uint(n/m))-1))
		setReversedPowers(p.factors, c, s)
	}
	return p
}

// scale sets the coefficient dst of X^i to src's times c s^i, both in the same order.
func (k Kernel) scale(dst, src []Element, order Order, c, s Element) {
	if s == 1 {
		MulScalar(dst, src, c, k)
		return
	}
	p := k.newProgression(len(src), order, c, s)
	m := len(p.powers)
	for b, f := range p.factors {
		d := dst[b*m:][:m]
		MulScalar(d, src[b*m:][:m], f, k)
		Mul(d, d, p.powers, k)
	}
}

// setPowers sets dst[i] to c s^i, for a power of two of them: those that are there, times
// the next, are as many more.
func (k Kernel) setPowers(dst []Element, c, s Element) {
	dst[0] = c
	for i := 1; i < len(dst); i *= 2 {
		MulScalar(dst[i:2*i], dst[:i], s, k)
		s = s.Square()
	}
}

// setReversedPowers is setPowers with dst in reversed order.
func setReversedPowers(dst []Element, c, s Element) {
	dst[0] = c
	for i := len(dst) / 2; i > 0; i /= 2 {
		// Places that are odd multiples of i have the bit that counts len(dst) / (2i).
		for j := i; j < len(dst); j += 2 * i {
			dst[j] = dst[j-i].Mul(s)
		}
		s = s.Square()
	}
}
