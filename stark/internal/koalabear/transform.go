package koalabear

import (
	"math/bits"
	"slices"
)

// Transform computes the values of polynomials at the powers of a root of unity ω, and polynomials from their values.
// A polynomial has n = 2^log coefficients, in bit-reversed order. Its values are in natural order.
//
// Layer j combines elements x and y whose indices differ in bit j. It replaces them by x + f y and x - f y. For values,
// the layers come in rising order, and f is ω^(n / 2^(j+1)) to the power of x's index modulo 2^j. For coefficients, they
// come in falling order: layer j replaces polynomials modulo X^(2^(j+1)) - f² by those modulo X^(2^j) - f and X^(2^j) +
// f. For polynomial number b, f is 1/ω^(2^j) to the power of b, with the log - j - 1 bits of b reversed.
type Transform struct {
	log     int
	lowest  []Element // the factors of Evaluate in the kernel's layers, the same for all blocks
	blocks  []Element // the factors of Interpolate in these layers, block by block
	passes  []pass    // the other layers, in rising order
	inverse Element   // 1/n
}

// pass is up to MaxLayers layers, from layer low on. Factors are numbered as in Butterflies.
type pass struct {
	low, layers int
	rows        [][]Element // for each number, Evaluate's factors, by an index's bits below low
	polynomials [][]Element // for each number, Interpolate's factors, by an index's bits above these layers
}

// The kernels compute the lowest layers, on blocks of elements.
const (
	logBlock = 2 * MaxLayers
	block    = 1 << logBlock
	lanes    = block / 16
)

// exchange says which lanes of two registers, whose indices differ in one bit, make the same registers with this bit
// exchanged with that of the lane. For each bit, it has the lanes of the register without it, then of that with it.
// From 16 on, lanes are of the other register.
var exchange = func() (all [2 * MaxLayers][lanes]uint32) {
	for i := range MaxLayers {
		for lane := range uint32(lanes) {
			if bit := uint32(1) << i; lane&bit == 0 {
				all[2*i][lane], all[2*i+1][lane] = lane, lanes+lane+bit
			} else {
				all[2*i][lane], all[2*i+1][lane] = lanes+lane-bit, lane
			}
		}
	}
	return all
}()

// NewTransform returns the transform of 2^log elements for a root of unity of that order. It returns nil without the
// AVX-512 kernel, and if there are fewer than 256 elements.
func NewTransform(log int, root Element) *Transform {
	if !hasKernel || log < logBlock {
		return nil
	}
	n := 1 << log
	t := &Transform{log: log, inverse: New(uint64(n)).Inverse()}
	t.lowest, t.blocks = make([]Element, block), make([]Element, n)
	powers, inverses := powersOf(root, n/2), powersOf(root.Inverse(), n/2)
	// set sets the factors of layers, each of them for a number of exponents.
	set := func(dst, powers []Element, low, layers, count int, exponent func(i int) int) {
		for j := range layers {
			for i := range 1 << j {
				for k := range count {
					dst[k] = powers[(i<<low+exponent(k))<<(log-low-j-1)]
				}
				dst = dst[count:]
			}
		}
	}
	itself := func(i int) int { return i }
	set(t.lowest, powers, 0, MaxLayers, 1, itself)
	set(t.lowest[lanes:], powers, MaxLayers, MaxLayers, lanes, itself)
	for b := range n / block {
		above, factors := log-logBlock, t.blocks[b*block:][:block]
		set(factors, inverses, above, MaxLayers, 1, func(int) int { return reverse(b, above) })
		set(factors[lanes:], inverses, above+MaxLayers, MaxLayers, lanes, func(lane int) int {
			return reverse(b*lanes+lane, above+MaxLayers)
		})
	}
	for low := logBlock; low < log; low += MaxLayers {
		p := pass{low: low, layers: min(MaxLayers, log-low)}
		above := log - low - p.layers
		rows, polynomials := make([]Element, (1<<p.layers-1)<<low), make([]Element, (1<<p.layers-1)<<above)
		set(rows, powers, low, p.layers, 1<<low, itself)
		set(polynomials, inverses, above, p.layers, 1<<above, func(b int) int { return reverse(b, above) })
		p.rows = slices.Collect(slices.Chunk(rows, 1<<low))
		p.polynomials = slices.Collect(slices.Chunk(polynomials, 1<<above))
		t.passes = append(t.passes, p)
	}
	return t
}

// reverse returns a number below 2^n with its n bits reversed.
func reverse(i, n int) int { return int(bits.Reverse64(uint64(i)) >> (64 - n)) }

// powersOf returns the first n powers of an element.
func powersOf(e Element, n int) []Element {
	powers, power := make([]Element, n), New(1)
	for i := range powers {
		powers[i] = power
		power = power.Mul(e)
	}
	return powers
}

// Evaluate replaces 2^log coefficients by values.
func (t *Transform) Evaluate(a []Element) {
	a = a[:1<<t.log]
	evaluateAVX512(&a[0], &t.lowest[0], &exchange, len(a)/block, 0)
	for _, p := range t.passes {
		var memory [1 << MaxLayers][]Element
		v := memory[:1<<p.layers]
		for from := 0; from < len(a); from += len(v) << p.low {
			for i := range v {
				v[i] = a[from+i<<p.low:][:1<<p.low]
			}
			Butterflies(v, v, p.rows)
		}
	}
}

// Interpolate replaces 2^log values by coefficients.
func (t *Transform) Interpolate(a []Element) {
	a = a[:1<<t.log]
	for at, p := range slices.Backward(t.passes) {
		var memory [2][1 << MaxLayers][]Element
		v, w := memory[0][:1<<p.layers], memory[1][:1<<p.layers-1]
		for b := range p.polynomials[0] {
			for i := range v { // Butterflies begins with neighbours, which here are the farthest
				v[reverse(i, p.layers)] = a[(b<<p.layers+i)<<p.low:][:1<<p.low]
			}
			for i := range w {
				w[i] = p.polynomials[i][b:]
			}
			split(v, w, at == len(t.passes)-1)
		}
	}
	interpolateAVX512(&a[0], &t.blocks[0], &exchange, len(a)/block, 4*block)
	MulScalar(a, a, t.inverse)
}

// split computes layers on vectors like Butterflies, but the first element of a factor's vector serves all rows. There
// must be 16 vectors, unless first is set. Then the first factor of each layer must be 1.
func split(v, w [][]Element, first bool) {
	rows := len(v[0])
	switch {
	case !first:
		split16AVX512(&v[0], &v[0], &w[0], rows)
	case len(v) == 2:
		first2AVX512(&v[0], &v[0], &w[0], rows)
	case len(v) == 4:
		first4AVX512(&v[0], &v[0], &w[0], rows)
	case len(v) == 8:
		first8AVX512(&v[0], &v[0], &w[0], rows)
	default:
		first16AVX512(&v[0], &v[0], &w[0], rows)
	}
}
