package arm64

import "fmt"

// Go's assembler has no mnemonics for the Scalable Vector Extension. This file encodes
// the instructions that the kernels use (Arm Architecture Reference Manual, chapter C8).
// Elements are of 64 bits throughout; s names a source whose elements are read as pairs of
// 32 bits, of which the instruction takes the bottom or the top ones.

// zReg, pReg and xReg are registers: vectors, predicates, general ones (31 is zero).
type (
	zReg uint32
	pReg uint32
	xReg uint32
)

// instruction is one word and its mnemonic.
type instruction struct {
	word uint32
	text string
	kind kind
}

// kind says how an instruction is counted.
type kind int

const (
	compute kind = iota
	memory       // loads and stores
	control      // counters, addresses, branches
	kinds
)

func (x xReg) String() string {
	if x == 31 {
		return "xzr"
	}
	return fmt.Sprintf("x%d", uint32(x))
}

// opcodes have all register fields zero.
var opcodes = map[string]uint32{
	// Zd.D, Zn.D, Zm.D
	"add": 0x04e00000, "sub": 0x04e00400, "mul": 0x04e06000, "umulh": 0x04e06c00,
	// Zd.D, Zn.S, Zm.S
	"uaddlb": 0x45c00800, "uaddlt": 0x45c00c00, "usublb": 0x45c01800, "usublt": 0x45c01c00,
	"umullb": 0x45c07800,
	// Zda.D, Zn.S, Zm.S[word]
	"umullb[]": 0x44e0d000, "umullt[]": 0x44e0d400, "umlalb[]": 0x44e09000, "umlalt[]": 0x44e09400,
	// Zd.D, Zn.D, Zm.S
	"uaddwt": 0x45c04c00, "usubwt": 0x45c05c00,
	// Zdn.D, Pg/M, Zdn.D, Zm.D
	"add/m": 0x04c00000, "sub/m": 0x04c10000, "umin/m": 0x04cb0000, "mul/m": 0x04d00000, "umulh/m": 0x04d30000,
	// Zda.D, Pg/M, Zn.D, Zm.D
	"mla/m": 0x04c04000,
	// Zd.D, Zn.D, #shift
	"lsl": 0x04209c00, "lsr": 0x04209400,
}

// ddd returns Zd.D = Zn.D op Zm.D.
func ddd(op string, d, n, m zReg) instruction {
	return instruction{opcodes[op] | uint32(m)<<16 | uint32(n)<<5 | uint32(d), fmt.Sprintf("%s z%d.d, z%d.d, z%d.d", op, d, n, m), compute}
}

// dss returns Zd.D = Zn.S op Zm.S.
func dss(op string, d, n, m zReg) instruction {
	return instruction{opcodes[op] | uint32(m)<<16 | uint32(n)<<5 | uint32(d), fmt.Sprintf("%s z%d.d, z%d.s, z%d.s", op, d, n, m), compute}
}

// dds returns Zd.D = Zn.D op Zm.S.
func dds(op string, d, n, m zReg) instruction {
	return instruction{opcodes[op] | uint32(m)<<16 | uint32(n)<<5 | uint32(d), fmt.Sprintf("%s z%d.d, z%d.d, z%d.s", op, d, n, m), compute}
}

// dssWord returns Zd.D = or += Zn.S times one of the four words of Zm in the same 128 bits; m is
// below 16.
func dssWord(op string, d, n, m zReg, word uint32) instruction {
	return instruction{opcodes[op+"[]"] | word>>1<<20 | word&1<<11 | uint32(m)<<16 | uint32(n)<<5 | uint32(d), fmt.Sprintf("%s z%d.d, z%d.s, z%d.s[%d]", op, d, n, m, word), compute}
}

// merge returns Zd.D = Zd.D op Zm.D where the predicate is set.
func merge(op string, d zReg, g pReg, m zReg) instruction {
	return instruction{opcodes[op+"/m"] | uint32(g)<<10 | uint32(m)<<5 | uint32(d), fmt.Sprintf("%s z%d.d, p%d/m, z%d.d, z%d.d", op, d, g, d, m), compute}
}

// mla returns Zd.D += Zn.D Zm.D where the predicate is set.
func mla(d zReg, g pReg, n, m zReg) instruction {
	return instruction{opcodes["mla/m"] | uint32(m)<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("mla z%d.d, p%d/m, z%d.d, z%d.d", d, g, n, m), compute}
}

// shift returns Zd.D = Zn.D lsl or lsr by 1 to 63.
func shift(op string, d, n zReg, by uint32) instruction {
	v := 64 + by // the element's size and the shift in one number of seven bits
	if op == "lsr" {
		v = 128 - by
	}
	return instruction{opcodes[op] | v>>5<<22 | v&31<<16 | uint32(n)<<5 | uint32(d), fmt.Sprintf("%s z%d.d, z%d.d, #%d", op, d, n, by), compute}
}

// adr returns Zd.D = Zn.D + (Zm.D << by), by from 1 to 3.
func adr(d, n, m zReg, by uint32) instruction {
	return instruction{0x04e0a000 | uint32(m)<<16 | by<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("adr z%d.d, [z%d.d, z%d.d, lsl #%d]", d, n, m, by), compute}
}

// uxtw returns Zd.D = the low 32 bits of Zn.D where the predicate is set.
func uxtw(d zReg, g pReg, n zReg) instruction {
	return instruction{0x04d5a000 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("uxtw z%d.d, p%d/m, z%d.d", d, g, n), compute}
}

// movprfx copies Zn for the destructive instruction that follows.
func movprfx(d, n zReg) instruction {
	return instruction{0x0420bc00 | uint32(n)<<5 | uint32(d), fmt.Sprintf("movprfx z%d, z%d", d, n), compute}
}

// cmphi sets Pd where Zn.D > Zm.D.
func cmphi(d, g pReg, n, m zReg) instruction {
	return instruction{0x24c00010 | uint32(m)<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("cmphi p%d.d, p%d/z, z%d.d, z%d.d", d, g, n, m), compute}
}

// dupX returns Zd.D = Xn in all lanes.
func dupX(d zReg, n xReg) instruction {
	return instruction{0x05e03800 | uint32(n)<<5 | uint32(d), fmt.Sprintf("mov z%d.d, %s", d, n), control}
}

// dup0 returns Zd.D = 0.
func dup0(d zReg) instruction {
	return instruction{0x25f8c000 | uint32(d), fmt.Sprintf("mov z%d.d, #0", d), control}
}

// index returns Zd.D = Xn + lane Xm.
func index(d zReg, n, m xReg) instruction {
	return instruction{0x04e04c00 | uint32(m)<<16 | uint32(n)<<5 | uint32(d), fmt.Sprintf("index z%d.d, %s, %s", d, n, m), control}
}

// ptrue sets Pd in all lanes.
func ptrue(d pReg) instruction {
	return instruction{0x25d8e3e0 | uint32(d), fmt.Sprintf("ptrue p%d.d", d), control}
}

// whilelo sets Pd in the lanes for which Xn + lane < Xm, and the flag N if there are any.
func whilelo(d pReg, n, m xReg) instruction {
	return instruction{0x25e01c00 | uint32(m)<<16 | uint32(n)<<5 | uint32(d), fmt.Sprintf("whilelo p%d.d, %s, %s", d, n, m), control}
}

// cntd returns Xd = the number of lanes.
func cntd(d xReg) instruction {
	return instruction{0x04e0e3e0 | uint32(d), fmt.Sprintf("cntd %s", d), control}
}

// incd returns Xd += the number of lanes.
func incd(d xReg) instruction {
	return instruction{0x04f0e3e0 | uint32(d), fmt.Sprintf("incd %s", d), control}
}

// ld1d loads consecutive elements from Xn + 8 Xm, zeros where the predicate is not set.
func ld1d(d zReg, g pReg, n, m xReg) instruction {
	return instruction{0xa5e04000 | uint32(m)<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("ld1d {z%d.d}, p%d/z, [%s, %s, lsl #3]", d, g, n, m), memory}
}

// st1d stores where ld1d loads.
func st1d(d zReg, g pReg, n, m xReg) instruction {
	return instruction{0xe5e04000 | uint32(m)<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("st1d {z%d.d}, p%d, [%s, %s, lsl #3]", d, g, n, m), memory}
}

// ld2d loads pairs of elements from Xn + 8 Xm, the first of each to Zd, where the predicate is set
// for the pair. ld4d loads fours in the same way, and st4d stores them.
func ld2d(d zReg, g pReg, n, m xReg) instruction {
	return instruction{0xa5a0c000 | uint32(m)<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("ld2d {z%d.d, z%d.d}, p%d/z, [%s, %s, lsl #3]", d, d+1, g, n, m), memory}
}

func ld4d(d zReg, g pReg, n, m xReg) instruction {
	return instruction{0xa5e0c000 | uint32(m)<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("ld4d {z%d.d-z%d.d}, p%d/z, [%s, %s, lsl #3]", d, d+3, g, n, m), memory}
}

func st4d(d zReg, g pReg, n, m xReg) instruction {
	return instruction{0xe5e06000 | uint32(m)<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("st4d {z%d.d-z%d.d}, p%d, [%s, %s, lsl #3]", d, d+3, g, n, m), memory}
}

// ld1rd loads one element from Xn + 8 element into all lanes; element is below 64.
func ld1rd(d zReg, g pReg, n xReg, element uint32) instruction {
	return instruction{0x85c0e000 | element<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("ld1rd {z%d.d}, p%d/z, [%s, #%d]", d, g, n, 8*element), memory}
}

// ld1rqd loads two elements from Xn + 16 pair into all pairs of lanes; pair is below 8.
func ld1rqd(d zReg, g pReg, n xReg, pair uint32) instruction {
	return instruction{0xa5802000 | pair<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("ld1rqd {z%d.d}, p%d/z, [%s, #%d]", d, g, n, 16*pair), memory}
}

// gather loads from the addresses Zn.D + 8 element; element is below 32.
func gather(d zReg, g pReg, n zReg, element uint32) instruction {
	return instruction{0xc5a0c000 | element<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("ld1d {z%d.d}, p%d/z, [z%d.d, #%d]", d, g, n, 8*element), memory}
}

// scatter stores where gather loads.
func scatter(d zReg, g pReg, n zReg, element uint32) instruction {
	return instruction{0xe5c0a000 | element<<16 | uint32(g)<<10 | uint32(n)<<5 | uint32(d), fmt.Sprintf("st1d {z%d.d}, p%d, [z%d.d, #%d]", d, g, n, 8*element), memory}
}
