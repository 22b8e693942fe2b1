package goldilocks

import "math/bits"

// tables holds what vector kernels read: the twiddles of passes of one radix. Each twiddle is
// stored as the packed signed 32-bit digits of itself and of 2^32 times itself.
//
// Let rev(b) be the bits of b after the binary point, the least significant first. Block b of a
// pass has the twiddle t = exp(2 pi i rev(b)/radix), whatever the length, and its element k is
// multiplied by t^k.
type tables struct {
	// rows has, for each block except those of the pass of stride 1, the powers from 0 to radix-1,
	// and then these times 2^32.
	rows []uint64
	// groups has, for each power from 1 to radix-1, that power for radix consecutive blocks, and
	// then these times 2^32. The pass of stride 1 reads them.
	groups []uint64
}

func newTables(roots []Element, radix int) *tables {
	n := 2 * len(roots)
	t := &tables{
		// One row more than used: the last digit is loaded together with the four bytes after it.
		rows:   make([]uint64, (n/radix/radix+1)*2*radix),
		groups: make([]uint64, n/radix*2*(radix-1)),
	}
	for b := range n / radix / radix {
		row, root := t.rows[2*radix*b:], roots[radix/2*b]
		for k, power := 0, Element(1); k < radix; k, power = k+1, power.Mul(root) {
			row[k], row[radix+k] = twiddle(power)
		}
	}
	for b := range n / radix {
		lane, root := b%radix, roots[radix/2*b]
		group := t.groups[2*radix*(radix-1)*(b/radix):]
		for k, power := 1, root; k < radix; k, power = k+1, power.Mul(root) {
			group[lane], group[radix+lane] = twiddle(power)
			group = group[2*radix:]
		}
	}
	return t
}

// twiddle returns the digits of e and of 2^32 e, packed.
//
// In absolute value, the low digits of e and 2^32 e must add up to at most 2^32 - 4, the high
// digits to at most 2^32 - 2. Times digits of at most 2^31, that is 2^63 - 2^33 and 2^63 - 2^32.
// All 2^32 roots of unity were tried: only 2^63 fails, by one, and no table contains it. It is at
// 41/64 of the circle. A table's twiddles are the powers up to radix-1 of those up to 1/radix of
// the circle, so 41/64 would have to be 6 or 7 times, or 3 times, a fraction whose denominator is a
// power of two. Among other elements, 1 in 2^30 fails too.
func twiddle(e Element) (t, s uint64) {
	return pack(digits(e)), pack(digits(e.Mul(1 << 32)))
}

// digits returns low and high with low + 2^32 high = e modulo p. low fits in 32 bits. high fits too
// if e is a root of unity, or 2^32 times one.
func digits(e Element) (low, high int64) {
	v := int64(e)
	if e >= Modulus/2 {
		v += epsilon // less p, modulo 2^64
	}
	low = int64(int32(v))
	return low, (v - low) >> 32
}

func pack(low, high int64) uint64 { return uint64(uint32(low)) | uint64(high)<<32 }

// multiplier is an element m, prepared for products that Montgomery's method reduces: z includes
// the factor 2^64 that the reduction removes. The kernels of arm64 multiply in this way, with six
// instructions.
type multiplier struct {
	z uint64 // 2^64 m modulo p, below p
	q uint64 // z/p modulo 2^64
}

func newMultiplier(m Element) multiplier {
	z := uint64(Reduce128(uint64(m), 0))
	// 1/p is 2^32 + 1 modulo 2^64: (1 - 2^32) (1 + 2^32) = 1 - 2^64.
	return multiplier{z, z + z<<32}
}

// newMultipliers prepares elements for products.
func newMultipliers(elements []Element) []multiplier {
	all := make([]multiplier, len(elements))
	for i, m := range elements {
		all[i] = newMultiplier(m)
	}
	return all
}

// scaleBlock is the number of powers that a progression keeps, which fit in the first-level cache.
const scaleBlock = 1 << 9

// progression is c s^i for i below a power of two: blocks of the same powers, each times one
// factor.
type progression struct{ powers, factors []Element }

// newProgression returns the progression c s^i of n elements in the given order.
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

// scale sets the coefficient of X^i in dst to c s^i times that in src. Both are in the same order.
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

// setPowers sets dst[i] to c s^i, for a number of elements that is a power of two. Each step
// doubles the known powers by multiplying them by the next one.
func (k Kernel) setPowers(dst []Element, c, s Element) {
	dst[0] = c
	for i := 1; i < len(dst); i *= 2 {
		MulScalar(dst[i:2*i], dst[:i], s, k)
		s = s.Square()
	}
}

// setReversedPowers does the same as setPowers, with dst in reversed order.
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
