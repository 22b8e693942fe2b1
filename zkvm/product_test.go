package zkvm

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// The operations of products.
var productOps = map[string]uint64{
	"mul":    codeProduct,
	"mulw":   codeProduct + codeNarrow,
	"mulhu":  codeProduct + codeHigh,
	"mulhsu": codeProduct + codeHigh + codeSignedLeft,
	"mulh":   codeProduct + codeHigh + codeSignedLeft + codeSignedRight,
}

// number returns the number that the lowest bits of a word are.
func number(word uint64, width int, signed bool) *big.Int {
	n := new(big.Int).SetUint64(word << (64 - width) >> (64 - width))
	if signed && n.Bit(width-1) != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(width)))
	}
	return n
}

// wordOf returns the lowest bits of a number as a word, extended from the given width to the word's by its sign.
func wordOf(s shape, n *big.Int, width int) uint64 {
	all := new(big.Int).Lsh(big.NewInt(1), uint(width))
	n = number(new(big.Int).Mod(n, all).Uint64(), width, true)
	return n.Mod(n, new(big.Int).Lsh(big.NewInt(1), uint(2*s.limb))).Uint64()
}

// multiplied returns the result of an operation of products.
func multiplied(s shape, op, a, b uint64) uint64 {
	width := 2 * s.limb
	product := new(big.Int).Mul(number(a, width, op&codeSignedLeft != 0), number(b, width, op&codeSignedRight != 0))
	switch {
	case op&codeHigh != 0:
		product.Rsh(product, uint(width))
	case op&codeNarrow != 0:
		width = s.limb
	}
	return wordOf(s, product, width)
}

// edges are operands at the limits of words and limbs.
var edges = []uint64{
	0, 1, 2, 1<<15 - 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63,
	1<<64 - 1<<31, 1<<64 - 2, 1<<64 - 1, 0xffff_0000_ffff_0000, 0x8000_8000_8000_8000, 0x7fff_ffff_8000_0000,
}

// checkAll checks the traces of a program that has one instruction for each operation and each two operands that are edges or random.
func checkAll(t *testing.T, ops map[string]uint64, result func(s shape, op, a, b uint64) uint64) {
	random := rand.New(rand.NewPCG(1, 2))
	operands := edges
	for len(operands) < 30 {
		// Any number of bits, and operands that share their upper limb.
		operands = append(operands, random.Uint64()>>random.IntN(64), operands[random.IntN(len(operands))]^uint64(random.Uint32()))
	}
	m := newMachine(rv64)
	var program []decoded
	for i, v := range operands {
		program = append(program, decoded{op: codeSums + codeImmediate, rd: 1 + uint64(i), rs2: firstConstant + uint64(i), constant: v})
	}
	for op := range ops {
		for i := range operands {
			for j := range operands {
				program = append(program, decoded{op: ops[op], rd: 31 + uint64(i&1), rs1: 1 + uint64(i), rs2: 1 + uint64(j)})
			}
		}
	}
	program = append(program, decoded{op: codeSums + codeImmediate, rd: a7, rs2: firstConstant + uint64(len(program)), constant: numberHalt}, decoded{op: codeCall})
	p := &Program{instructions: program}
	x := newExecution(m, p)
	for i, in := range program {
		s := step{index: i}
		switch in.family() {
		case codeSums:
			s.result = in.constant
		case codeProduct, codeDivision:
			s.result = result(rv64, in.op, x.cells[in.rs1].value, x.cells[in.rs2].value)
		}
		x.step(s)
	}
	if err := check(t, x); err != nil {
		t.Fatal(err)
	}
}

func TestProducts(t *testing.T) {
	for _, c := range []struct {
		name         string
		a, b, result uint64
	}{
		{"mul", 1<<64 - 1, 3, 1<<64 - 3},
		{"mulw", 1 << 31, 1, 1<<64 - 1<<31},
		{"mulh", 1 << 63, 1 << 63, 1 << 62},
		{"mulh", 1<<64 - 1, 1, 1<<64 - 1},
		{"mulhsu", 1<<64 - 1, 1<<64 - 1, 1<<64 - 1},
		{"mulhu", 1<<64 - 1, 1<<64 - 1, 1<<64 - 2},
	} {
		if got := multiplied(rv64, productOps[c.name], c.a, c.b); got != c.result {
			t.Fatalf("%s %#x %#x = %#x, want %#x", c.name, c.a, c.b, got, c.result)
		}
	}
	checkAll(t, productOps, multiplied)
}
