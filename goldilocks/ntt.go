package goldilocks

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench"
)

// Order is the order of the elements of a vector. The vector has as many elements as a domain.
type Order int

// In Natural order element i is at index i. In BitReversed order it is at the index whose bits are
// those of i read backwards.
const (
	Natural Order = iota
	BitReversed
)

// String returns the order's name.
func (o Order) String() string {
	switch o {
	case Natural:
		return "natural"
	case BitReversed:
		return "bit-reversed"
	}
	return fmt.Sprintf("Order(%d)", int(o))
}

// NTT replaces the coefficients of a polynomial of degree below n by the polynomial's values on a
// coset. The coset consists of the elements of the domain, each multiplied by shift. The second
// argument is the order of the coefficients; the values have the other order. NTT returns
// zkbench.ErrParams if values does not have the domain's size, or if shift is 0 or not canonical.
func (d *Domain) NTT(values []Element, from Order, shift Element, on ...Kernel) error {
	if err := d.check(values, from, shift); err != nil {
		return err
	}
	k := chosen(on)
	if shift != 1 {
		k.scale(values, values, from, 1, shift)
	}
	d.transform(k, values, from)
	return nil
}

// InverseNTT inverts NTT: it replaces the values on the coset by the coefficients. The second
// argument is the order of the values; the coefficients have the other order. InverseNTT returns
// the same errors as NTT.
func (d *Domain) InverseNTT(values []Element, from Order, shift Element, on ...Kernel) error {
	if err := d.check(values, from, shift); err != nil {
		return err
	}
	k := chosen(on)
	d.interpolate(k, values, from)
	if shift != 1 {
		shift = shift.Inverse()
	}
	k.scale(values, values, BitReversed-from, d.inverse, shift)
	return nil
}

func (d *Domain) check(values []Element, from Order, shift Element) error {
	if err := d.checkLength("vector", values); err != nil {
		return err
	}
	if err := checkOrder(from); err != nil {
		return err
	}
	return checkShift(shift)
}

func checkOrder(o Order) error {
	if o != Natural && o != BitReversed {
		return fmt.Errorf("%w: order %v, accepted are %v and %v", zkbench.ErrParams, o, Natural, BitReversed)
	}
	return nil
}

func checkShift(shift Element) error {
	if shift == 0 || !shift.Canonical() {
		return fmt.Errorf("%w: shift %d, accepted are 1 to p-1", zkbench.ErrParams, shift)
	}
	return nil
}

// interpolate inverts transform, up to the factor n. The transform with the inverse root equals
// transform with its outputs i and n - i exchanged.
func (d *Domain) interpolate(k Kernel, values []Element, from Order) {
	d.transform(k, values, from)
	if from == BitReversed {
		slices.Reverse(values[1:])
		return
	}
	// -i modulo n is i with the bits above its lowest 1 flipped, and these are the bits
	// below the highest 1 of its place.
	for m := 2; m < d.n; m *= 2 {
		slices.Reverse(values[m : 2*m])
	}
}

// transform sets values to their transform, from one order to the other.
func (d *Domain) transform(k Kernel, values []Element, from Order) {
	if d.wideNTT(k, values, from) {
		return
	}
	if from == Natural {
		d.toReversed(values, 0)
	} else {
		d.fromReversed(values, 0)
	}
	for i, e := range values {
		values[i] = Reduce(uint64(e))
	}
}

// cached is the number of elements that a portable transform handles pass by pass. With more it
// does one pass and then each half, so that the data stays in the first-level cache.
const cached = 1 << 11

// toReversed transforms block b to 64-bit numbers that are equal to the result modulo p. It reduces
// a polynomial modulo X^m - z^2 to two, modulo X^(m/2) - z and modulo X^(m/2) + z, with z =
// roots[b].
func (d *Domain) toReversed(x []Element, b int) {
	if len(x) > cached {
		half := len(x) / 2
		butterflies(x[:half], x[half:], d.roots[b])
		d.toReversed(x[:half], 2*b)
		d.toReversed(x[half:], 2*b+1)
		return
	}
	for half, blocks := len(x)/2, 1; half > 0; half, blocks = half/2, 2*blocks {
		for i, z := range d.roots[b*blocks:][:blocks] {
			y := x[2*half*i:][:2*half]
			butterflies(y[:half], y[half:], z)
		}
	}
}

// fromReversed is the transpose of toReversed.
func (d *Domain) fromReversed(x []Element, b int) {
	if len(x) > cached {
		half := len(x) / 2
		d.fromReversed(x[:half], 2*b)
		d.fromReversed(x[half:], 2*b+1)
		transposed(x[:half], x[half:], d.roots[b])
		return
	}
	for half, blocks := 1, len(x)/2; blocks > 0; half, blocks = 2*half, blocks/2 {
		for i, z := range d.roots[b*blocks:][:blocks] {
			y := x[2*half*i:][:2*half]
			transposed(y[:half], y[half:], z)
		}
	}
}

// butterflies sets (x, y) to (x + z y, x - z y).
func butterflies(x, y []Element, z Element) {
	y = y[:len(x)]
	for j := range x {
		u, v := uint64(x[j]), reduce128(bits.Mul64(uint64(y[j]), uint64(z)))
		x[j], y[j] = Element(addLazy(u, v)), Element(subLazy(u, v))
	}
}

// transposed sets (x, y) to (x + y, z (x - y)).
func transposed(x, y []Element, z Element) {
	y = y[:len(x)]
	for j := range x {
		u, v := uint64(x[j]), uint64(y[j])
		x[j], y[j] = Element(addLazy(u, v)), Element(reduce128(bits.Mul64(subLazy(u, v), uint64(z))))
	}
}

// addLazy returns a 64-bit number that equals u + v modulo p. A carry is worth epsilon. Adding
// epsilon can carry again, but then leaves less than epsilon, so that adding it once more does not
// carry.
func addLazy(u, v uint64) uint64 {
	s, c := bits.Add64(u, v, 0)
	s, c = bits.Add64(s, -c&epsilon, 0)
	return s + -c&epsilon
}

// subLazy returns a 64-bit number that equals u - v modulo p, in the way of addLazy.
func subLazy(u, v uint64) uint64 {
	d, b := bits.Sub64(u, v, 0)
	d, b = bits.Sub64(d, -b&epsilon, 0)
	return d - -b&epsilon
}

// BitReverse converts values from one Order to the other, in place. It returns zkbench.ErrParams if
// the length is not a power of two.
func BitReverse(values []Element) error {
	n := len(values)
	if n == 0 || n&(n-1) != 0 {
		return fmt.Errorf("%w: bit reversal of %d elements, accepted are powers of two", zkbench.ErrParams, n)
	}
	reverseBitOrder(values)
	return nil
}

func reverseBitOrder(values []Element) {
	log := bits.Len(uint(len(values))) - 1
	if log >= 2*tileLog {
		bitReverseTiles(values, log)
		return
	}
	for i := range values {
		if j := reverseBits(i, log); i < j {
			values[i], values[j] = values[j], values[i]
		}
	}
}

// reverseBits returns the low log bits of i in reverse.
func reverseBits(i, log int) int { return int(bits.Reverse64(uint64(i)) >> (64 - log)) }

// tileLog is the logarithm of the number of elements in a cache line, at least.
const tileLog = 4

// bitReverseTiles reverses tile by tile, so that every cache line is read and written whole. With i
// = (a, b, c), a and c of tileLog bits, element (a, b, c) goes to (rev c, rev b, rev a). The
// elements with the same b form a tile that is transposed.
func bitReverseTiles(values []Element, log int) {
	const side = 1 << tileLog
	middle := log - 2*tileLog
	var reversed [side]int
	for i := range reversed {
		reversed[i] = reverseBits(i, tileLog)
	}
	var tile [side][side]Element
	for b := range 1 << middle {
		r := reverseBits(b, middle)
		if r < b {
			continue
		}
		row := func(b, a int) []Element { return values[(a<<middle|b)<<tileLog:][:side] }
		for a := range side {
			for c, e := range row(b, a) {
				tile[reversed[c]][reversed[a]] = e
			}
		}
		if r != b {
			for a := range side {
				dst := row(b, a)
				for c := range dst {
					dst[c] = values[(reversed[c]<<middle|r)<<tileLog|reversed[a]]
				}
			}
		}
		for a := range side {
			copy(row(r, a), tile[a][:])
		}
	}
}
