package goldilocks

import "math/bits"

// The portable version of each vector operation. It also handles the elements that are left
// over after a kernel's whole registers.

func addPortable(dst, a, b []Element) {
	for i := range dst {
		dst[i] = a[i].Add(b[i])
	}
}

func subPortable(dst, a, b []Element) {
	for i := range dst {
		dst[i] = a[i].Sub(b[i])
	}
}

func mulPortable(dst, a, b []Element) {
	for i := range dst {
		dst[i] = a[i].Mul(b[i])
	}
}

func mulAddPortable(dst, a, b []Element) {
	for i := range dst {
		hi, lo := bits.Mul64(uint64(a[i]), uint64(b[i]))
		// Below 2^128: (p-1)^2 + p - 1.
		lo, carry := bits.Add64(lo, uint64(dst[i]), 0)
		dst[i] = Reduce128(hi+carry, lo)
	}
}

func xorPortable(dst, a, b []Element) {
	for i := range dst {
		x, y := a[i], b[i]
		dst[i] = x.Add(y).Sub(x.Add(x).Mul(y))
	}
}

func andNotPortable(dst, a, b []Element) {
	for i := range dst {
		dst[i] = a[i].Sub(a[i].Mul(b[i]))
	}
}

func packPortable(dst []Element, a [][]Element, from int) {
	for i := from; i < len(dst); i++ {
		var sum Element
		for j := len(a) - 1; j >= 0; j-- {
			sum = sum.Add(sum).Add(a[j][i])
		}
		dst[i] = sum
	}
}

func squarePortable(dst, a []Element) {
	for i := range dst {
		dst[i] = a[i].Square()
	}
}

func negPortable(dst, a []Element) {
	for i := range dst {
		dst[i] = a[i].Neg()
	}
}

func mulScalarPortable(dst, a []Element, c Element) {
	for i := range dst {
		dst[i] = a[i].Mul(c)
	}
}

func mulAddScalarPortable(dst, a []Element, c Element) {
	for i := range dst {
		dst[i] = dst[i].Add(a[i].Mul(c))
	}
}

func dotPortable(a, b []Element) Element {
	var s sum
	for i := range a {
		s.add(a[i], b[i])
	}
	return s.element()
}

// sum is a sum of products, which may exceed 2^128.
type sum struct{ lo, hi, over uint64 }

func (s *sum) add(a, b Element) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi, carry = bits.Add64(s.hi, hi, carry)
	s.over += carry
}

// element returns the sum of fewer than 2^32 products modulo p, where 2^128 is -2^32.
func (s *sum) element() Element { return Reduce128(s.hi, s.lo).Sub(Reduce(s.over << 32)) }
