package poseidon

import "github.com/zkbench/zkbench/goldilocks"

// The linear layer is a circulant, out(i) = sum of c(j) in(i+j), and 8 in(0) in out(0). As
// polynomials modulo x^12 - 1 = (y-1)(y+1)(y^2+1), y = x^3, the circulant is three
// products by polynomials of degree 2: modulo x^3 - 1 by 64 + 128 x + 64 x^2, modulo
// x^3 + 1 by -4 - 32 x + 8 x^2, modulo x^3 - i by (4+2i) - (8+2i) x + (32-2i) x^2. All are
// over the integers, here modulo 2^64.

// spectrum is a vector's remainders: modulo x^3 - 1, modulo x^3 + 1, and the real and the
// imaginary parts modulo x^3 - i, three each.
type spectrum [Width]uint64

// from sets s to the spectrum of in, of which in(3a+b) is the coefficient of y^a x^b.
// in may be s. Each at most quadruples.
func (s *spectrum) from(in *[Width]uint64) {
	for n := range 3 {
		a, b, c, d := in[n], in[n+3], in[n+6], in[n+9]
		s[n], s[n+3], s[n+6], s[n+9] = (a+c)+(b+d), (a+c)-(b+d), a-c, b-d
	}
}

// vector sets out to the vector of the spectrum s.
func (s *spectrum) vector(out *[Width]uint64) {
	for n := range 3 {
		plus, minus, re, im := s[n], s[n+3], 2*s[n+6], 2*s[n+9]
		even, odd := plus+minus, plus-minus
		out[n], out[n+3], out[n+6], out[n+9] = quarter(even+re), quarter(odd+im), quarter(even-re), quarter(odd-im)
	}
}

// first is the first element of the vector of the spectrum s.
func (s *spectrum) first() uint64 { return quarter(s[0] + s[3] + 2*s[6]) }

// quarter is v/4, for v = 4 w modulo 2^64 with w in [-2^61, 2^61).
func quarter(v uint64) uint64 { return uint64(int64(v) >> 2) }

// addFirst adds to the first element of the vector.
func (s *spectrum) addFirst(v uint64) {
	s[0] += v
	s[3] += v
	s[6] += v
}

// multiply is the circulant.
func (s *spectrum) multiply() {
	sum := s[0] + s[1] + s[2]
	s[0], s[1], s[2] = 64*(sum+s[2]), 64*(sum+s[0]), 64*(sum+s[1])

	a, b, c := s[3], s[4], s[5]
	s[3], s[4], s[5] = 4*(8*c-a-2*b), 4*(-b-8*a-2*c), 4*(2*a-8*b-c)

	a, b, c = s[6], s[7], s[8]
	d, e, f := s[9], s[10], s[11]
	s[6] = 2 * (2*a + b + c + 4*f - d - 16*e)
	s[7] = 2 * (2*b + c + d - e - 4*a - 16*f)
	s[8] = 2 * (2*c + d + e + 16*a - f - 4*b)
	s[9] = 2 * (2*d + a + e + f + 16*b - 4*c)
	s[10] = 2 * (2*e + b + f + 16*c - 4*d - a)
	s[11] = 2 * (2*f + c + 16*d - a - b - 4*e)
}

// mix is the linear layer, on integers below 2^54.
func mix(v *[Width]uint64) {
	own := diagonal * v[0]
	var s spectrum
	s.from(v)
	s.multiply()
	s.vector(v)
	v[0] += own
}

// roundsBetween is how many partial rounds there are from one normalization to the next: a
// vector's elements are below 2^34 after one, each round multiplies them by up to 264, and
// a spectrum's are up to four: 2^(34 + 3 8.05 + 2) < 2^61.
const roundsBetween = 3

// normalize makes the two spectra of a number's lower and upper parts small: each gives
// what it has above 34 bits to the other, by 2^64 = 2^32 - 1. What is given is a multiple
// of 4, so that the spectra stay spectra of integers.
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

// mix is the linear layer.
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
