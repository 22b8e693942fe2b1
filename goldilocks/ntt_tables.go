package goldilocks

import "math/bits"

// tables are what vector kernels read: the twiddles of passes of one radix, each as the
// signed digits of 32 bits of itself and of 2^32 times itself, packed.
//
// With rev(b) the bits of b behind the binary point, the least significant first, block b
// of a pass has the twiddle t = exp(2 pi i rev(b)/radix), whatever the length, and its
// element k is multiplied by t^k.
type tables struct {
	// rows has for each block but those of the pass of stride 1 the powers from 0 to
	// radix-1, and then these times 2^32.
	rows []uint64
	// groups has for each power from 1 to radix-1 that of radix blocks in a row, and then
	// these times 2^32: for the pass of stride 1.
	groups []uint64
}

func newTables(roots []Element, radix int) *tables {
	n := 2 * len(roots)
	t := &tables{
		// A row more than there are: the last digit is loaded with the four bytes behind it.
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
// The low digits of e and 2^32 e are to add up, in absolute value, to at most 2^32 - 4, the
// high ones to at most 2^32 - 2: times digits of at most 2^31 that is 2^63 - 2^33 and 2^63 -
// 2^32. All 2^32 roots of unity have been tried: only 2^63 fails, by one, and it is in no
// table. It is at 41/64 of the circle, and a table's twiddles are the powers up to radix-1
// of those up to 1/radix of it: 41/64 would be 6 or 7 times, or 3 times, a fraction whose
// denominator is a power of two. It fails too for 1 in 2^30 of other elements.
func twiddle(e Element) (t, s uint64) {
	return pack(digits(e)), pack(digits(e.Mul(1 << 32)))
}

// digits returns low, which fits 32 bits, and high: low + 2^32 high = e modulo p. Of a
// root of unity, or one times 2^32, high fits too.
func digits(e Element) (low, high int64) {
	v := int64(e)
	if e >= Modulus/2 {
		v += epsilon // less p, modulo 2^64
	}
	low = int64(int32(v))
	return low, (v - low) >> 32
}

func pack(low, high int64) uint64 { return uint64(uint32(low)) | uint64(high)<<32 }

// multiplier is an element m, prepared for products by it that Montgomery's method reduces:
// z has the factor 2^64 that it takes away. The kernels of arm64 multiply so, by six
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

// newMultipliers prepares elements.
func newMultipliers(elements []Element) []multiplier {
	all := make([]multiplier, len(elements))
	for i, m := range elements {
		all[i] = newMultiplier(m)
	}
	return all
}

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
