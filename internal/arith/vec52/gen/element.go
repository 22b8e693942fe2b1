package main

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/arith/asm"
	"github.com/zkbench/zkbench/internal/arith/vec52/layout"
)

// Constants in registers: 0, 2^52 - 1, -1/p modulo 2^52, and in some blocks the limbs of p.
const (
	zero    = "zero"
	mask    = "mask"
	inverse = "inverse"
)

func modulus(i int) string { return fmt.Sprintf("p%d", i) }

// constant returns the address of a word of the constants.
func constant(word int) string { return fmt.Sprintf("%d(AX)", 8*word) }

// element is eight elements of the field. Value i has limb i of all eight. Unless a comment says otherwise, the last
// limb is not negative and all others are below 2^52.
type element []asm.Value

// block is code on elements.
type block struct {
	*asm.Block
	limbs  layout.Limbs
	pinned int // limbs of p that registers hold: all or none
}

func newBlock(limbs int) *block { return &block{Block: asm.New(8), limbs: layout.Limbs(limbs)} }

// withPinned returns a block with the limbs of p in registers.
func withPinned(limbs int) *block {
	b := newBlock(limbs)
	b.pinned = limbs
	return b
}

// bytes returns the size of eight elements.
func (b *block) bytes() int { return 64 * int(b.limbs) }

// address returns the address of limb i of the element that begins at offset from a register.
func address(register string, offset, i int) string {
	return fmt.Sprintf("%d(%s)", offset+64*i, register)
}

func (b *block) load(register string, offset int) (e element) {
	for i := range int(b.limbs) {
		e = append(e, b.Load(address(register, offset, i)))
	}
	return e
}

func (b *block) store(e element, register string, offset int) {
	for i, v := range e {
		b.Store(v, address(register, offset, i))
	}
}

const none = asm.Value(-1)

// madd adds the lower (half "L") or upper (half "H") 52 bits of the product x y to sum. A sum that is none begins at
// zero.
func (b *block) madd(half string, sum *asm.Value, y, x asm.Operand) {
	if *sum == none {
		*sum = b.Emit(asm.Step{Mnemonic: "VPXORQ", Sources: []asm.Operand{{Text: "=" + zero}, {Text: "=" + zero}}})
	}
	*sum = b.Emit(asm.Step{Mnemonic: "VPMADD52" + half, Sources: []asm.Operand{y, x, asm.ValueOperand(*sum)}, Merge: true, Hidden: true})
}

// product returns the 2 limbs sums that are the limbs of x y, each below 2 limbs 2^52. Here limbs is their number in
// an element.
func (b *block) product(x, y element) []asm.Value {
	t := b.sums()
	for i := range x {
		for j := range y {
			b.madd("LUQ", &t[i+j], asm.ValueOperand(y[j]), asm.ValueOperand(x[i]))
			b.madd("HUQ", &t[i+j+1], asm.ValueOperand(y[j]), asm.ValueOperand(x[i]))
		}
	}
	return t
}

func (b *block) sums() []asm.Value {
	t := make([]asm.Value, 2*b.limbs)
	for i := range t {
		t[i] = none
	}
	return t
}

// squared returns product(x, x). It computes products of different limbs once and doubles them.
func (b *block) squared(x element) []asm.Value {
	t := b.sums()
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			b.madd("LUQ", &t[i+j], asm.ValueOperand(x[j]), asm.ValueOperand(x[i]))
			b.madd("HUQ", &t[i+j+1], asm.ValueOperand(x[j]), asm.ValueOperand(x[i]))
		}
	}
	for i := range t {
		if t[i] != none {
			t[i] = b.Op("VPADDQ", t[i], t[i])
		}
	}
	for i := range x {
		b.madd("LUQ", &t[2*i], asm.ValueOperand(x[i]), asm.ValueOperand(x[i]))
		b.madd("HUQ", &t[2*i+1], asm.ValueOperand(x[i]), asm.ValueOperand(x[i]))
	}
	return t
}

// reduce reduces a product by R = 2^(52 limbs) (Montgomery 1985). Each step makes the lowest limb a multiple of 2^52.
// Limbs of the result are below 2^57: 4 limbs 2^52 and carries.
//
// If the factors are below ip and jp, the result is below (1 + ij p/R) p. R is 84 p for BN254's fields, 35 p for the
// scalars of BLS12-381 and 2^35 p for its base field.
func (b *block) reduce(t []asm.Value) element {
	for i := range int(b.limbs) {
		m := none
		b.madd("LUQ", &m, asm.Operand{Text: "=" + inverse}, asm.ValueOperand(t[i]))
		for j := range int(b.limbs) {
			p, half := asm.Operand{Text: constant(b.limbs.P(j))}, ".BCST"
			if b.pinned > 0 {
				p, half = asm.Operand{Text: "=" + modulus(j)}, ""
			}
			b.madd("LUQ"+half, &t[i+j], p, asm.ValueOperand(m))
			b.madd("HUQ"+half, &t[i+j+1], p, asm.ValueOperand(m))
		}
		t[i+1] = b.Op("VPADDQ", b.Immediate("VPSRLQ", 52, t[i]), t[i+1])
	}
	return t[b.limbs:]
}

// carried propagates the carries of t, whose limbs may have more than 52 bits or be negative.
func (b *block) carried(t element) (e element) {
	for i, v := range t {
		if i == len(t)-1 {
			return append(e, v)
		}
		t[i+1] = b.Op("VPADDQ", b.Immediate("VPSRAQ", 52, v), t[i+1])
		e = append(e, b.WithConstant("VPANDQ", mask, v))
	}
	return e
}

func (b *block) mul(x, y element) element { return b.carried(b.reduce(b.product(x, y))) }
func (b *block) square(x element) element { return b.carried(b.reduce(b.squared(x))) }

// plus returns x + k p, limb by limb, for k up to 7.
func (b *block) plus(x element, k int) (z element) {
	for i, v := range x {
		z = append(z, b.WithWord("VPADDQ", constant(b.limbs.Multiples(i)+k), v))
	}
	return z
}

// minus returns x - y, limb by limb.
func (b *block) minus(x, y element) (z element) {
	for i := range x {
		z = append(z, b.Op("VPSUBQ", y[i], x[i]))
	}
	return z
}

// difference returns x - y + 2p. x and y must be below 2p.
func (b *block) difference(x, y element) element {
	return b.carried(b.plus(b.minus(x, y), 2))
}

// reduced returns x minus a multiple of p: a number below 1.1 p. x must be below 8p. Its limbs may have any sign,
// except the last, which must not be negative; that is so if x > p/2. The quotient is estimated from the last limb,
// which lacks less than 2^6 units of carries to either side. The constant is so much smaller than R/p that the
// estimate is at most a fifteenth too small and never too large.
func (b *block) reduced(x element) element {
	q := none
	last := int(b.limbs) - 1
	b.madd("HUQ.BCST", &q, asm.Operand{Text: constant(b.limbs.Quotient())}, asm.ValueOperand(x[last]))
	var z element
	for i, v := range x {
		multiple := b.Emit(asm.Step{Mnemonic: "VPERMQ", Sources: []asm.Operand{{Text: constant(b.limbs.Multiples(i))}, asm.ValueOperand(q)}})
		z = append(z, b.Op("VPSUBQ", multiple, v))
	}
	return b.carried(z)
}

// fieldFunctions work on elements in a row.
func fieldFunctions(limbs int) []function {
	pinned := withPinned
	if limbs > 5 {
		pinned = newBlock
	}
	mul, square := pinned(limbs), pinned(limbs)
	mul.store(mul.mul(mul.load("SI", 0), mul.load("DX", 0)), "DI", 0)
	square.store(square.square(square.load("SI", 0)), "DI", 0)
	mul.Schedule()
	square.Schedule()
	dst, a, b := argument{"dst", "*uint64", "DI"}, argument{"a", "*uint64", "SI"}, argument{"b", "*uint64", "DX"}
	step := func(register string) string { return fmt.Sprintf("ADDQ $%d, %s", mul.bytes(), register) }
	return []function{
		{fmt.Sprintf("mul%d", limbs), []argument{dst, a, b}, nil, nil, mul, []string{step("DI"), step("SI"), step("DX")}},
		{fmt.Sprintf("scale%d", limbs), []argument{dst, a, b}, nil, nil, mul, []string{step("DI"), step("SI")}},
		{fmt.Sprintf("square%d", limbs), []argument{dst, a}, nil, nil, square, []string{step("DI"), step("SI")}},
	}
}
