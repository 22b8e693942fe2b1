package main

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/arith/asm"
)

// projective is eight points (X : Y : Z) with coordinates below 1.1 p. The identity is (0 : 1 : 0).
type projective struct{ x, y, z element }

func (b *block) loadProjective(register string) projective {
	return projective{b.load(register, 0), b.load(register, b.bytes()), b.load(register, 2*b.bytes())}
}

func (b *block) storeProjective(p projective, register string) {
	b.store(p.x, register, 0)
	b.store(p.y, register, b.bytes())
	b.store(p.z, register, 2*b.bytes())
}

// thriceB multiplies by 3b.
func (b *block) thriceB(x element) element {
	var c element
	for i := range x {
		c = append(c, b.Broadcast(constant(b.limbs.ThriceB(i))))
	}
	return b.mul(x, c)
}

// cross returns x1 y2 + x2 y1, below 3.1 p. first is x1 y1 and second is x2 y2. The result is not negative:
// Montgomery's product of v and w is at least vw/R and less than p + vw/R, and (x1 + y1) (x2 + y2) is at least the
// sum of the other two products.
func (b *block) cross(x1, y1, x2, y2, first, second element) element {
	t := b.reduce(b.product(b.carried(b.sum(x1, y1)), b.carried(b.sum(x2, y2))))
	return b.carried(b.plus(b.minus(b.minus(t, first), second), 2))
}

// add returns p + q by the complete addition of Renes, Costello and Batina (2015/1060), Algorithm 7, for a = 0. It is
// the same sequence of operations for any two points of a group of odd order. With R/p at least 35, all products are
// below 1.4 p, and sums of two of them and 2p are below 5 p.
func (b *block) add(p, q projective) projective {
	t0, t1, t2 := b.mul(p.x, q.x), b.mul(p.y, q.y), b.mul(p.z, q.z)
	xy := b.cross(p.x, p.y, q.x, q.y, t0, t1)
	yz := b.cross(p.y, p.z, q.y, q.z, t1, t2)
	xz := b.cross(p.x, p.z, q.x, q.z, t0, t2)
	t0 = b.carried(b.sum(b.sum(t0, t0), t0))
	t2 = b.thriceB(t2)
	xz = b.thriceB(xz)
	plus, minus := b.carried(b.sum(t1, t2)), b.difference(t1, t2)
	return projective{
		b.reduced(b.plus(b.minus(b.reduce(b.product(xy, minus)), b.mul(yz, xz)), 2)),
		b.reduced(b.plus(b.sum(b.reduce(b.product(minus, plus)), b.mul(xz, t0)), 2)),
		b.reduced(b.plus(b.sum(b.reduce(b.product(plus, yz)), b.mul(t0, xy)), 2)),
	}
}

// double returns 2p by Algorithm 9 of the same paper.
func (b *block) double(p projective) projective {
	yy := b.square(p.y)
	eight := b.carried(b.twice(b.twice(b.twice(yy))))
	t := b.thriceB(b.square(p.z))
	sum := b.carried(b.sum(yy, t))
	rest := b.carried(b.plus(b.plus(b.minus(yy, b.sum(b.twice(t), t)), 2), 2)) // yy - 9b z² + 4p
	return projective{
		b.reduced(b.plus(b.twice(b.mul(rest, b.mul(p.x, p.y))), 2)),
		b.reduced(b.plus(b.sum(b.reduce(b.product(rest, sum)), b.mul(t, eight)), 2)),
		b.reduced(b.plus(b.reduce(b.product(b.mul(p.y, p.z), eight)), 2)),
	}
}

func (b *block) twice(x element) element { return b.sum(x, x) }

// choices is the number of multiples of a point in a table: 1 to 16 times the point.
const choices = 16

// selected returns d times a point in each lane, for digits d from -16 to 16. The table has places with the multiples
// 1 to 16. All of them are read, and a mask selects one, so that memory accesses do not depend on the digits.
func (b *block) selected(table, digits string) projective {
	d := b.Load("(" + digits + ")")
	sign := b.Immediate("VPSRAQ", 63, d)
	ones := b.Emit(asm.Step{Mnemonic: "VPTERNLOGQ", Before: "$0xff, ", Sources: []asm.Operand{{Text: "=" + zero}, {Text: "=" + zero}, asm.ValueOperand(d)}, Merge: true, Hidden: true})
	// v counts down from |d|. The mask has all bits set if v is 0, because then v - 1 is negative and v is not.
	v := b.Op("VPABSQ", d)
	isZero := func() asm.Value {
		less := b.Op("VPADDQ", ones, v)
		mask := b.Immediate("VPSRAQ", 63, b.Op("VPANDNQ", less, v))
		v = less
		return mask
	}
	identity := isZero()
	var q projective
	for i := range int(b.limbs) {
		one := b.Broadcast(constant(b.limbs.One(i)))
		q.x = append(q.x, b.Emit(asm.Step{Mnemonic: "VPXORQ", Sources: []asm.Operand{{Text: "=" + zero}, {Text: "=" + zero}}}))
		q.y = append(q.y, b.Op("VPANDQ", one, identity))
		q.z = append(q.z, b.Op("VPANDNQ", one, identity))
	}
	for k := range choices {
		mask := isZero()
		for _, c := range []struct {
			e  element
			at int
		}{{q.x, 2 * k * b.bytes()}, {q.y, (2*k + 1) * b.bytes()}} {
			for i := range c.e { // |= mask & multiple
				c.e[i] = b.Emit(asm.Step{
					Mnemonic: "VPTERNLOGQ", Before: "$0xf8, ",
					Sources: []asm.Operand{{Text: address(table, c.at, i)}, asm.ValueOperand(mask), asm.ValueOperand(c.e[i])}, Merge: true, Hidden: true,
				})
			}
		}
	}
	for i, y := range q.y { // (y ^ sign) - sign is -y if sign is -1
		negative := b.Op("VPSUBQ", sign, b.Op("VPXORQ", sign, y))
		q.y[i] = b.Op("VPADDQ", b.WithWord("VPANDQ", constant(b.limbs.P(i)), sign), negative)
	}
	q.y = b.carried(q.y)
	return q
}

// completeFunctions returns functions on projective points at DI.
func completeFunctions(limbs int) []function {
	sum, other := argument{"sum", "*uint64", "DI"}, argument{"other", "*uint64", "SI"}
	addSelected, addPoints, double := newBlock(limbs), newBlock(limbs), newBlock(limbs)
	addSelected.storeProjective(addSelected.add(addSelected.loadProjective("DI"), addSelected.selected("SI", "DX")), "DI")
	addPoints.storeProjective(addPoints.add(addPoints.loadProjective("DI"), addPoints.loadProjective("SI")), "DI")
	double.storeProjective(double.double(double.loadProjective("DI")), "DI")
	for _, b := range []*block{addSelected, addPoints, double} {
		b.Schedule()
	}
	size := 3 * double.bytes()
	return []function{
		{
			fmt.Sprintf("addSelected%d", limbs),
			[]argument{sum, {"table", "*uint64", "SI"}, {"digits", "*int64", "DX"}},
			nil, nil, addSelected,
			[]string{fmt.Sprintf("ADDQ $%d, SI", choices*2*double.bytes()), "ADDQ $64, DX"},
		},
		{
			fmt.Sprintf("addPoints%d", limbs),
			[]argument{sum, other},
			nil, nil, addPoints,
			[]string{fmt.Sprintf("ADDQ $%d, DI", size), fmt.Sprintf("ADDQ $%d, SI", size)},
		},
		{fmt.Sprintf("double%d", limbs), []argument{sum}, nil, nil, double, nil},
	}
}
