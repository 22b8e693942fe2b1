package poseidon

import "github.com/zkbench/zkbench/goldilocks"

// The linear layer is a circulant, out(i) = sum of c(j) in(i+j), and 8 in(0) in out(0). As
// polynomials modulo x^12 - 1 = (y-1)(y+1)(y^2+1), y = x^3, the circulant is three
// products by polynomials of degree 2: modulo x^3 - 1 by 64 + 128 x + 64 x^2, modulo
// x^3 + 1 by -4 - 32 x + 8 x^2, modulo x^3 - i by (4+2i) - (8+2i) x + (32-2i) x^2. All are
// over the integers, here modulo 2^64.

// spectrum holds a vector's remainders: modulo x^3 - 1, modulo x^3 + 1, and the real and the
// imaginary parts modulo x^3 - i, three each.
type spectrum [Width]uint64

// setRemainders sets s to the spectrum of in, where in(3a+b) is the coefficient of y^a x^b. in may
// be s. Each number at most quadruples.
func (s *spectrum) setRemainders(in *[Width]uint64) {
	for n := range 3 {
		s[n], s[n+3], s[n+6], s[n+9] = remainders(in[n], in[n+3], in[n+6], in[n+9])
	}
}

// remainders returns a + b y + c y^2 + d y^3 modulo y-1, y+1, and y^2+1.
func remainders(a, b, c, d uint64) (plus, minus, re, im uint64) {
	return (a + c) + (b + d), (a + c) - (b + d), a - c, b - d
}

// vector sets out to the vector whose spectrum is s.
func (s *spectrum) vector(out *[Width]uint64) {
	for n := range 3 {
		plus, minus, re, im := s[n], s[n+3], 2*s[n+6], 2*s[n+9]
		even, odd := plus+minus, plus-minus
		out[n], out[n+3], out[n+6], out[n+9] = quarter(even+re), quarter(odd+im), quarter(even-re), quarter(odd-im)
	}
}

// first returns the first element of the vector whose spectrum is s.
func (s *spectrum) first() uint64 { return quarter(s[0] + s[3] + 2*s[6]) }

// quarter returns v/4, for v = 4 w modulo 2^64 with w in [-2^61, 2^61).
func quarter(v uint64) uint64 { return uint64(int64(v) >> 2) }

// addFirst adds v to the first element of the vector.
func (s *spectrum) addFirst(v uint64) {
	s[0] += v
	s[3] += v
	s[6] += v
}

// multiply multiplies by the circulant.
func (s *spectrum) multiply() {
	a, b, c := timesPlus(s[0], s[1], s[2])
	s[0], s[1], s[2] = 64*a, 64*b, 64*c
	a, b, c = timesMinus(s[3], s[4], s[5])
	s[3], s[4], s[5] = 4*a, 4*b, 4*c
	a, b, c, d, e, f := s[6], s[7], s[8], s[9], s[10], s[11]
	x, y, z := timesRe(a, b, c, d, e, f)
	s[6], s[7], s[8] = 2*x, 2*y, 2*z
	x, y, z = timesIm(a, b, c, d, e, f)
	s[9], s[10], s[11] = 2*x, 2*y, 2*z
}

// timesPlus returns the product modulo x^3 - 1, divided by 64.
func timesPlus(a, b, c uint64) (x, y, z uint64) {
	sum := a + b + c
	return sum + c, sum + a, sum + b
}

// timesMinus returns the product modulo x^3 + 1, divided by 4.
func timesMinus(a, b, c uint64) (x, y, z uint64) {
	return 8*c - a - 2*b, -b - 8*a - 2*c, 2*a - 8*b - c
}

// timesRe and timesIm return the parts of the product of a + b x + c x^2 + i (d + e x + f x^2)
// modulo x^3 - i, divided by 2. One function for both would be too long to be inlined.
func timesRe(a, b, c, d, e, f uint64) (x, y, z uint64) {
	return 2*a + b + c + 4*f - d - 16*e, 2*b + c + d - e - 4*a - 16*f, 2*c + d + e + 16*a - f - 4*b
}

func timesIm(a, b, c, d, e, f uint64) (x, y, z uint64) {
	return 2*d + a + e + f + 16*b - 4*c, 2*e + b + f + 16*c - 4*d - a, 2*f + c + 16*d - a - b - 4*e
}

// mix computes the linear layer on integers below 2^54. It is setRemainders, multiply and vector in
// one, so that the elements stay in registers. The factors 64, 4, 2 · 2 and 1/4 of the three
// reduce to 16, 1 and 1.
func mix(v *[Width]uint64) {
	own := diagonal * v[0]
	p0, m0, r0, i0 := remainders(v[0], v[3], v[6], v[9])
	p1, m1, r1, i1 := remainders(v[1], v[4], v[7], v[10])
	p2, m2, r2, i2 := remainders(v[2], v[5], v[8], v[11])
	p0, p1, p2 = timesPlus(p0, p1, p2)
	m0, m1, m2 = timesMinus(m0, m1, m2)
	even0, even1, even2 := 16*p0+m0, 16*p1+m1, 16*p2+m2
	odd0, odd1, odd2 := 16*p0-m0, 16*p1-m1, 16*p2-m2
	re0, re1, re2 := timesRe(r0, r1, r2, i0, i1, i2)
	v[0], v[6] = even0+re0+own, even0-re0
	v[1], v[7] = even1+re1, even1-re1
	v[2], v[8] = even2+re2, even2-re2
	im0, im1, im2 := timesIm(r0, r1, r2, i0, i1, i2)
	v[3], v[9] = odd0+im0, odd0-im0
	v[4], v[10] = odd1+im1, odd1-im1
	v[5], v[11] = odd2+im2, odd2-im2
}

// roundsBetween is the number of partial rounds between two normalizations. A vector's elements are
// below 2^34 after a normalization, each round multiplies them by up to 264, and a spectrum's are
// up to four times as large: 2^(34 + 3 8.05 + 2) < 2^61.
const roundsBetween = 3

// normalize makes the two spectra of a number's lower and upper parts small. Each part passes its
// bits above 34 to the other, by 2^64 = 2^32 - 1. The amount is a multiple of 4, so the spectra
// remain spectra of integers.
func normalize(low, high *spectrum) {
	const kept = 1<<34 - 1
	for i := range low {
		l, h := low[i], high[i]
		h += uint64(int64(l)>>34) << 2
		more := uint64(int64(h)>>34) << 2
		low[i] = l&kept - more
		high[i] = h&kept + more
	}
}

// mix applies the linear layer.
func (s *State) mix() {
	var low, high [Width]uint64
	for i, e := range s {
		low[i], high[i] = uint64(e)&epsilon, uint64(e)>>32
	}
	mix(&low)
	mix(&high)
	for i := range s {
		s[i] = goldilocks.Reduce(lazy(low[i], high[i]))
	}
}
