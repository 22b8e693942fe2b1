package arm64

import (
	"fmt"
	"strings"
)

// assembly writes functions of Go assembly, and counts their instructions.
type assembly struct {
	out    strings.Builder
	sve2   bool // use version 2 of the Scalable Vector Extension
	counts [kinds]int
	pass   [kinds]int // counts of one pass of the last loop
}

// Registers that all functions share.
const (
	eps     zReg = 15 // 2^32 - 1 in all lanes
	modulus zReg = 30 // p in all lanes, if a function needs it
	active  pReg = 0  // lanes that have an element
	carry   pReg = 1
	every   pReg = 7 // all lanes
)

// suffix returns the end of function names.
func (a *assembly) suffix() string {
	if a.sve2 {
		return "SVE2"
	}
	return "SVE"
}

// vector writes an instruction of the extension.
func (a *assembly) vector(i instruction) {
	a.counts[i.kind]++
	fmt.Fprintf(&a.out, "\tWORD $0x%08x // %s\n", i.word, i.text)
}

// scalar writes an instruction of one word that Go's assembler knows.
func (a *assembly) scalar(format string, args ...any) {
	a.counts[control]++
	fmt.Fprintf(&a.out, "\t"+format+"\n", args...)
}

// loop writes a loop that ends with the given branch.
func (a *assembly) loop(label, branch string, body func()) {
	a.line("%s:", label)
	a.counts = [kinds]int{}
	body()
	a.scalar("%s %s", branch, label)
	a.pass = a.counts
}

// line writes a line that is not an instruction.
func (a *assembly) line(format string, args ...any) { fmt.Fprintf(&a.out, format+"\n", args...) }

// multiply sets d to the lower (mul) or upper (umulh) word of x y. d may be x; it may be y only if
// y is x.
func (a *assembly) multiply(op string, d, x, y zReg) {
	if a.sve2 {
		a.vector(ddd(op, d, x, y))
		return
	}
	if d != x {
		a.vector(movprfx(d, x))
	}
	a.vector(merge(op, d, every, y))
}

// product sets hi 2^64 + lo to x y. hi is neither x nor y. lo may be x; it may be y only if y is x.
func (a *assembly) product(hi, lo, x, y zReg) {
	a.multiply("umulh", hi, x, y)
	a.multiply("mul", lo, x, y)
}

// productHalves does the same as product by four products of 32-bit halves, if there is no umulh.
// It overwrites x, y, t and u.
func (a *assembly) productHalves(hi, lo, x, y, t, u zReg) {
	xl, yl := hi, lo
	a.vector(uxtw(xl, every, x))
	a.vector(uxtw(yl, every, y))
	a.vector(shift("lsr", x, x, 32))
	a.vector(shift("lsr", y, y, 32))
	a.vector(movprfx(t, xl))
	a.vector(merge("mul", t, every, yl))
	// A product is at most (2^32-1)^2 = 2^64 - 2^33 + 1: with 2^32 - 1 it does not carry.
	a.vector(shift("lsr", u, t, 32))
	a.vector(mla(u, every, xl, y))
	a.vector(uxtw(xl, every, u))
	a.vector(mla(xl, every, x, yl))
	a.vector(shift("lsr", u, u, 32))
	a.vector(mla(u, every, x, y))
	a.vector(shift("lsr", y, xl, 32))
	a.vector(shift("lsl", x, xl, 32))
	a.vector(uxtw(t, every, t))
	a.vector(ddd("add", hi, u, y)) // the product's high half: below 2^64
	a.vector(ddd("add", lo, x, t)) // no bit is in both
}

// reduce sets d to hi 2^64 + lo modulo p, below 2^64 but not below p. It overwrites hi,
// lo and t; d is not hi.
//
// With hi = h 2^32 + l it is lo - h + l (2^32 - 1).
func (a *assembly) reduce(d, hi, lo, t zReg) {
	if a.sve2 {
		a.vector(dds("usubwt", t, lo, hi))
	} else {
		a.vector(shift("lsr", t, hi, 32))
		a.vector(ddd("sub", t, lo, t))
	}
	a.vector(cmphi(carry, every, t, lo)) // it borrowed
	// Borrowed: t >= 2^64 - 2^32 + 1, so this does not wrap.
	a.vector(merge("sub", t, carry, eps))
	a.timesEpsilon(hi, lo)
	a.addLazy(d, t, hi)
}

// timesEpsilon sets x to its lower half times 2^32 - 1, below p. It overwrites t.
func (a *assembly) timesEpsilon(x, t zReg) {
	if a.sve2 {
		a.vector(dss("umullb", x, x, eps))
		return
	}
	// Three instructions that are quick beside one multiplication.
	a.vector(uxtw(t, every, x))
	a.vector(shift("lsl", x, x, 32))
	a.vector(ddd("sub", x, x, t))
}

// addLazy sets d to x + y modulo p, below 2^64. x is any number below 2^64, y below p; d
// is not y.
func (a *assembly) addLazy(d, x, y zReg) {
	a.vector(ddd("add", d, x, y))
	a.vector(cmphi(carry, every, y, d))
	// Carried: d <= 2^64 - 1 + p - 1 - 2^64 = p - 2, so this does not wrap.
	a.vector(merge("add", d, carry, eps))
}

// subCanonical sets d to x - y modulo p, below p, for x below p and y at most p. d is not y.
func (a *assembly) subCanonical(d, x, y zReg) {
	a.vector(cmphi(carry, every, y, x))
	a.vector(ddd("sub", d, x, y))
	a.vector(merge("add", d, carry, modulus))
}

// canonical reduces d, below 2^64, to below p: d - p wraps to something above d if d < p.
func (a *assembly) canonical(d, t zReg) {
	a.vector(ddd("add", t, d, eps))
	a.vector(merge("umin", d, every, t))
}

// mulLazy sets d to x y modulo p, below 2^64, for x and y below 2^64. It overwrites t; d may be x
// or y.
func (a *assembly) mulLazy(d, x, y zReg, t [3]zReg) {
	a.product(t[0], t[1], x, y)
	a.reduce(d, t[0], t[1], t[2])
}
