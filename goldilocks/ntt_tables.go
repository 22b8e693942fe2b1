package goldilocks

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
