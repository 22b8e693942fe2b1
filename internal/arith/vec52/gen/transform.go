package main

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/arith/asm"
	"github.com/zkbench/zkbench/internal/arith/vec52/layout"
)

// Transforms go level by level. To reversed order, a block of length 2m, which is a polynomial modulo X^(2m) - z²,
// becomes two blocks, modulo X^m - z and X^m + z: (x, y) becomes (x + z y, x - z y). From reversed order the step is
// the transpose: (x + y, z (x - y)). z is a root of unity that depends on the block's number, below 1.1 p.
//
// Between passes limbs are not carried. To reversed order, a level adds 2p to the bound of an element and 2^57 to
// those of its limbs, so after at most 28 levels elements are below 64p and limbs below 2^62. Factors are carried
// before a multiplication, and the product is below 2p. From reversed order, all elements are below 2p between
// passes, and no limb is negative, so the last limb of k p + x - y is not negative if y is below k p.

// root is a root of unity as a factor: one word for each limb, or a register of lanes.
type root func(limb int) (operand asm.Operand, suffix string)

// scalarRoot returns root number k of those that DX points at, the same for all lanes.
func (b *block) scalarRoot(k int) root {
	return func(limb int) (asm.Operand, string) {
		return asm.Operand{Text: fmt.Sprintf("%d(DX)", 8*(int(b.limbs)*k+limb))}, ".BCST"
	}
}

// laneRoot returns block number k of the roots that DX points at: one root for each lane.
func (b *block) laneRoot(k int) root {
	return func(limb int) (asm.Operand, string) {
		return asm.Operand{Text: address("DX", k*b.bytes(), limb)}, ""
	}
}

// mulRoot returns x z, in limbs below 2^57.
func (b *block) mulRoot(x element, z root) element {
	t := b.sums()
	for j := range x {
		y, suffix := z(j)
		for i := range x {
			b.madd("LUQ"+suffix, &t[i+j], y, asm.ValueOperand(x[i]))
			b.madd("HUQ"+suffix, &t[i+j+1], y, asm.ValueOperand(x[i]))
		}
	}
	return b.reduce(t)
}

// folded returns x minus a multiple of p: a number below 1.1 p. x must be below 84p <= R; its limbs need not be
// carried, but the last must not be negative.
func (b *block) folded(x element) element {
	q := none
	last := int(b.limbs) - 1
	b.madd("HUQ.BCST", &q, asm.Operand{Text: constant(b.limbs.Fraction())}, asm.ValueOperand(x[last]))
	q = b.Immediate("VPSRLQ", layout.FractionBits, q)
	z := append(element{}, x...)
	for i := range z {
		b.madd("LUQ.BCST", &z[i], asm.Operand{Text: constant(b.limbs.Negative(i))}, asm.ValueOperand(q))
		if i < last {
			b.madd("HUQ.BCST", &z[i+1], asm.Operand{Text: constant(b.limbs.Negative(i))}, asm.ValueOperand(q))
		}
	}
	z = b.carried(z)
	z[last] = b.WithConstant("VPANDQ", mask, z[last]) // minus q 2^(52 limbs)
	return z
}

// split returns (x + y, x - y + k p). y must be below k p.
func (b *block) split(x, y element, k int) (sum, difference element) {
	return b.sum(x, y), b.plus(b.minus(x, y), k)
}

// direction says whether a transform goes to bit-reversed order or from it.
type direction string

const (
	to   direction = "To"
	from direction = "From"
)

// four does two levels on four rows of a block, with the roots of the block and of its two halves.
func (b *block) four(d direction, x [4]element) [4]element {
	z, low, high := b.scalarRoot(0), b.scalarRoot(1), b.scalarRoot(2)
	if d == to {
		x[0], x[2] = b.split(x[0], b.mulRoot(b.carried(x[2]), z), 2)
		x[1], x[3] = b.split(x[1], b.mulRoot(b.carried(x[3]), z), 2)
		x[0], x[1] = b.split(x[0], b.mulRoot(b.carried(x[1]), low), 2)
		x[2], x[3] = b.split(x[2], b.mulRoot(b.carried(x[3]), high), 2)
		return x
	}
	x[0], x[1] = b.split(x[0], x[1], 2)
	x[2], x[3] = b.split(x[2], x[3], 2)
	x[1], x[3] = b.mulRoot(b.carried(x[1]), low), b.mulRoot(b.carried(x[3]), high)
	x[0], x[2] = b.split(x[0], x[2], 4)
	x[1], x[3] = b.split(x[1], x[3], 2)
	x[0], x[1] = b.reduced(x[0]), b.reduced(x[1])
	x[2], x[3] = b.mulRoot(b.carried(x[2]), z), b.mulRoot(b.carried(x[3]), z)
	return x
}

// four1 does what four does for the block that is the whole vector, whose roots are 1, 1 and i.
func (b *block) four1(d direction, x [4]element) [4]element {
	i := b.scalarRoot(2)
	if d == to {
		x[0], x[2] = b.split(x[0], x[2], 2)
		x[1], x[3] = b.split(x[1], x[3], 2)
		x[0], x[1] = b.split(x[0], x[1], 4)
		x[2], x[3] = b.split(x[2], b.mulRoot(b.carried(x[3]), i), 2)
		return x
	}
	x[0], x[1] = b.split(x[0], x[1], 2)
	x[2], x[3] = b.split(x[2], x[3], 2)
	x[3] = b.mulRoot(b.carried(x[3]), i)
	x[0], x[2] = b.split(x[0], x[2], 4)
	x[1], x[3] = b.split(x[1], x[3], 2)
	return [4]element{b.reduced(x[0]), b.reduced(x[1]), b.reduced(x[2]), b.reduced(x[3])}
}

// rowsFunction returns a function that passes over rows which are SI bytes apart. Each iteration of the loop handles
// eight columns. Blocks follow each other, with R8 columns each, and each has its own row of roots.
func rowsFunction(name string, limbs, rows int, body func(b *block, x []element) []element) function {
	b := newBlock(limbs)
	registers := []string{"DI", "R9", "R10", "R11"}[:rows]
	var x []element
	for _, r := range registers {
		x = append(x, b.load(r, 0))
	}
	for i, e := range body(b, x) {
		b.store(e, registers[i], 0)
	}
	b.Schedule()
	f := function{name: fmt.Sprintf("%s%d", name, limbs), block: b}
	f.arguments = []argument{{"x", "*uint64", "DI"}, {"stride", "int", "SI"}, {"columns", "int", "R8"}, {"roots", "*uint64", "DX"}}
	skip := map[int]string{2: "MOVQ SI, R13", 4: "LEAQ (SI)(SI*2), R13"}[rows]
	f.setup = []string{"MOVQ R8, BX", skip}
	f.before = []string{"LEAQ (DI)(SI*1), R9", "LEAQ (DI)(SI*2), R10", "LEAQ (R9)(SI*2), R11"}[:rows-1]
	// At the end of a block, go to the next without a branch.
	f.behind = []string{
		fmt.Sprintf("ADDQ $%d, DI", b.bytes()),
		"LEAQ (DI)(R13*1), R9",
		fmt.Sprintf("LEAQ %d(DX), R10", 8*rootsOfFour*limbs),
		"DECQ BX",
		"CMOVQEQ R9, DI",
		"CMOVQEQ R10, DX",
		"CMOVQEQ R8, BX",
	}
	return f
}

// rootsOfFour is the number of roots that four takes for a block, and rootsOfEight the number that eight takes.
const (
	rootsOfFour  = 3
	rootsOfEight = 7
)

// eight does the three levels of strides below 8 on eight consecutive blocks, transposed, so that each lane has a
// block of length eight.
func (b *block) eight(d direction, x [8]element) [8]element {
	// The levels, the longest stride first, and the number of each's first root.
	levels := []struct{ stride, roots int }{{4, 0}, {2, 1}, {1, 3}}
	if d == to {
		for _, l := range levels {
			for i := range x {
				if i&l.stride == 0 {
					y := b.mulRoot(b.carried(x[i+l.stride]), b.laneRoot(l.roots+i/(2*l.stride)))
					lift := x[i]
					if l.stride == 1 { // so that no result's last limb is negative
						lift = b.plus(lift, 1)
					}
					x[i], x[i+l.stride] = b.split(lift, y, 2)
				}
			}
		}
		for i := range x {
			x[i] = b.folded(x[i])
		}
		return x
	}
	for n := len(levels) - 1; n >= 0; n-- {
		l := levels[n]
		// k is the multiple of p that bounds row i+stride; sums of sums are the largest.
		for i := range x {
			if i&l.stride != 0 {
				continue
			}
			// After the first level, even rows are below 4p and the others are products. After the
			// second, rows 0 and 4 are reduced, rows 1 and 5 are below 4p, and the others are products.
			k := 2
			if l.stride == 2 && i%2 == 0 || l.stride == 4 && i == 1 {
				k = 4
			}
			x[i], x[i+l.stride] = b.split(x[i], x[i+l.stride], k)
			x[i+l.stride] = b.mulRoot(b.carried(x[i+l.stride]), b.laneRoot(l.roots+i/(2*l.stride)))
			if l.stride == 4 || l.stride == 2 && i%2 == 0 {
				x[i] = b.reduced(x[i])
			}
		}
	}
	return x
}

// transpose exchanges blocks and lanes of eight blocks.
func (b *block) transpose(x [8]element) (z [8]element) {
	for limb := range int(b.limbs) {
		var rows []asm.Value
		for _, e := range x {
			rows = append(rows, e[limb])
		}
		for k, column := range b.transposed(rows, all...) {
			z[k] = append(z[k], column)
		}
	}
	return z
}

func eightFunction(d direction, limbs int) function {
	b := newBlock(limbs)
	var x [8]element
	for i := range x {
		x[i] = b.load("DI", i*b.bytes())
	}
	for i, e := range b.transpose(b.eight(d, b.transpose(x))) {
		b.store(e, "DI", i*b.bytes())
	}
	b.Schedule()
	return function{
		name:      fmt.Sprintf("eight%s%d", d, limbs),
		arguments: []argument{{"x", "*uint64", "DI"}, {"roots", "*uint64", "DX"}},
		block:     b,
		behind:    []string{fmt.Sprintf("ADDQ $%d, DI", 8*b.bytes()), fmt.Sprintf("ADDQ $%d, DX", rootsOfEight*b.bytes())},
	}
}

// turnFunction returns a function that writes eight blocks, R8 bytes apart, to eight consecutive ones. It exchanges
// blocks and lanes, both in bit-reversed order. The next eight begin one block later.
func turnFunction(limbs int) function {
	b := newBlock(limbs)
	// The register of row k of the source is at the index that has k's bits in reversed order.
	registers := []string{"SI", "R13", "R10", "R15", "R9", "R14", "R11", "BX"}
	var x [8]element
	for k, r := range registers {
		x[k] = b.load(r, 0)
	}
	for k, e := range b.transpose(x) {
		b.store(e, "DI", []int{0, 4, 2, 6, 1, 5, 3, 7}[k]*b.bytes())
	}
	b.Schedule()
	return function{
		name:      fmt.Sprintf("turn%d", limbs),
		arguments: []argument{{"dst", "*uint64", "DI"}, {"src", "*uint64", "SI"}, {"stride", "int", "R8"}},
		before: []string{
			"LEAQ (SI)(R8*1), R9", "LEAQ (SI)(R8*2), R10", "LEAQ (R9)(R8*2), R11", "LEAQ (SI)(R8*4), R13",
			"LEAQ (R9)(R8*4), R14", "LEAQ (R10)(R8*4), R15", "LEAQ (R11)(R8*4), BX",
		},
		block:  b,
		behind: []string{fmt.Sprintf("ADDQ $%d, DI", 8*b.bytes()), fmt.Sprintf("ADDQ $%d, SI", b.bytes())},
	}
}

// gnark-crypto's elements hold x 2^256 modulo p in four words. 16 times that is x R for R = 2^260.
const excess = 4

// inFunction returns a function that converts eight consecutive elements of that form to a block, below 1.1 p.
func inFunction(limbs int) function {
	b := newBlock(limbs)
	var rows [4]asm.Value // of two elements
	for i := range rows {
		rows[i] = b.Load(fmt.Sprintf("%d(SI)", 64*i))
	}
	columns := b.columns(rows)
	var x element
	for i := range limbs {
		bit := 52*i - excess
		k := max(bit, 0) / 64
		low := columns[k]
		if bit < 0 {
			low = b.Immediate("VPSLLQ", -bit, low)
		} else if bit%64 > 0 {
			low = b.Immediate("VPSRLQ", bit%64, low)
		}
		if bit >= 0 && bit%64 > 12 && k+1 < len(columns) {
			low = b.Op("VPORQ", b.Immediate("VPSLLQ", 64-bit%64, columns[k+1]), low)
		}
		x = append(x, b.WithConstant("VPANDQ", mask, low))
	}
	b.store(b.folded(x), "DI", 0)
	b.Schedule()
	return function{
		name: fmt.Sprintf("in%d", limbs), arguments: []argument{{"dst", "*uint64", "DI"}, {"src", "*uint64", "SI"}}, block: b,
		behind: []string{fmt.Sprintf("ADDQ $%d, DI", b.bytes()), "ADDQ $256, SI"},
	}
}

// outFunction returns the inverse of inFunction's function, for elements below 2p. It adds the m p that makes an
// element a multiple of 16, and divides by 16.
func outFunction(limbs int) function {
	b := newBlock(limbs)
	x := b.load("SI", 0)
	m := none
	b.madd("LUQ", &m, asm.Operand{Text: "=" + inverse}, asm.ValueOperand(x[0]))
	m = b.Immediate("VPSRLQ", 64-excess, b.Immediate("VPSLLQ", 64-excess, m))
	for i := range x {
		b.madd("LUQ.BCST", &x[i], asm.Operand{Text: constant(b.limbs.P(i))}, asm.ValueOperand(m))
		if i+1 < len(x) {
			b.madd("HUQ.BCST", &x[i+1], asm.Operand{Text: constant(b.limbs.P(i))}, asm.ValueOperand(m))
		}
	}
	x = b.carried(x)
	var z element // x/16 < 1.1 p
	for i, v := range x {
		v = b.Immediate("VPSRLQ", excess, v)
		if i+1 < len(x) {
			v = b.WithConstant("VPANDQ", mask, b.Op("VPORQ", b.Immediate("VPSLLQ", 52-excess, x[i+1]), v))
		}
		z = append(z, v)
	}
	for i, row := range b.rows([4]asm.Value(b.wordsOf(b.canonical(z)))) {
		b.Store(row, fmt.Sprintf("%d(DI)", 64*i))
	}
	b.Schedule()
	return function{
		name: fmt.Sprintf("out%d", limbs), arguments: []argument{{"dst", "*uint64", "DI"}, {"src", "*uint64", "SI"}}, block: b,
		behind: []string{"ADDQ $256, DI", fmt.Sprintf("ADDQ $%d, SI", b.bytes())},
	}
}

// columns transposes rows, each of which has two elements of four words: column k gets word k of all eight elements.
func (b *block) columns(rows [4]asm.Value) (columns [4]asm.Value) {
	low, high := 0x44, 0xee // the first or the second element of each row
	ends := map[bool]int{false: 0x88, true: 0xdd}
	even := [2]asm.Value{b.Immediate("VSHUFI64X2", low, rows[1], rows[0]), b.Immediate("VSHUFI64X2", low, rows[3], rows[2])}
	odd := [2]asm.Value{b.Immediate("VSHUFI64X2", high, rows[1], rows[0]), b.Immediate("VSHUFI64X2", high, rows[3], rows[2])}
	for k := range 2 { // words 2k and 2k + 1
		x := b.Immediate("VSHUFI64X2", ends[k == 1], even[1], even[0])
		y := b.Immediate("VSHUFI64X2", ends[k == 1], odd[1], odd[0])
		columns[2*k] = b.Op("VPUNPCKLQDQ", y, x)
		columns[2*k+1] = b.Op("VPUNPCKHQDQ", y, x)
	}
	return columns
}

// rows is the inverse of columns.
func (b *block) rows(columns [4]asm.Value) (rows [4]asm.Value) {
	var even, odd [2]asm.Value // words 2k and 2k + 1 of elements of even number, and of odd
	for k := range 2 {
		even[k] = b.Op("VPUNPCKLQDQ", columns[2*k+1], columns[2*k])
		odd[k] = b.Op("VPUNPCKHQDQ", columns[2*k+1], columns[2*k])
	}
	for half, imm := range []int{0x44, 0xee} { // elements 0 to 3, and 4 to 7
		// Both words of one, then both of the next.
		e, o := b.Immediate("VSHUFI64X2", imm, even[1], even[0]), b.Immediate("VSHUFI64X2", imm, odd[1], odd[0])
		e, o = b.Immediate("VSHUFI64X2", 0xd8, e, e), b.Immediate("VSHUFI64X2", 0xd8, o, o)
		rows[2*half] = b.Immediate("VSHUFI64X2", 0x44, o, e)
		rows[2*half+1] = b.Immediate("VSHUFI64X2", 0xee, o, e)
	}
	return rows
}

// linearFunction returns a function that applies rule, a sum or difference, to elements below 2p. Results are below
// 1.1 p.
func linearFunction(name string, limbs int, rule func(b *block, x, y element) element) function {
	b := newBlock(limbs)
	b.store(b.reduced(rule(b, b.load("SI", 0), b.load("DX", 0))), "DI", 0)
	b.Schedule()
	step := func(register string) string { return fmt.Sprintf("ADDQ $%d, %s", b.bytes(), register) }
	return function{
		name:      fmt.Sprintf("%s%d", name, limbs),
		arguments: []argument{{"dst", "*uint64", "DI"}, {"a", "*uint64", "SI"}, {"b", "*uint64", "DX"}},
		block:     b,
		behind:    []string{step("DI"), step("SI"), step("DX")},
	}
}

func transformFunctions(limbs int) (functions []function) {
	if limbs != 5 { // scalar fields have five
		return nil
	}
	for _, d := range []direction{to, from} {
		functions = append(functions,
			rowsFunction("four"+string(d), limbs, 4, func(b *block, x []element) []element {
				y := b.four(d, [4]element(x))
				return y[:]
			}),
			rowsFunction("fourOne"+string(d), limbs, 4, func(b *block, x []element) []element {
				y := b.four1(d, [4]element(x))
				return y[:]
			}),
			eightFunction(d, limbs))
	}
	two := rowsFunction("twoOne", limbs, 2, func(b *block, x []element) []element {
		sum, difference := b.split(x[0], x[1], 2)
		return []element{b.reduced(sum), b.reduced(difference)}
	})
	return append(functions, two, turnFunction(limbs), inFunction(limbs), outFunction(limbs),
		linearFunction("add", limbs, func(b *block, x, y element) element { return b.sum(x, y) }),
		linearFunction("sub", limbs, func(b *block, x, y element) element { return b.plus(b.minus(x, y), 2) }))
}
