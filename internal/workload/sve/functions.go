// Package sve has ten functions over the Goldilocks field. A public study of ARM SVE compares them by
// time and instructions (docs/studies/sve.md). All ten are available on every goldilocks.Kernel.
package sve

import (
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench/goldilocks"
)

// A Function is one of the package's functions on one goldilocks.Kernel. A unit is the smallest input
// of the function: one element or one state. Run computes whole units of dst from a and b.
type Function struct {
	Name string
	Base string // the name of the function of the ten that this one computes in another way, or empty
	// Dst, A and B are the numbers of elements of dst, a and b per unit. If Shared is set, all units
	// share b, and B is the whole length of b.
	Dst, A, B int
	Shared    bool
	// Bytes means that the elements of b are below 2^8. Words means that the elements of
	// a and b are any 64-bit numbers.
	Bytes, Words bool
	Run          func(dst, a, b []goldilocks.Element)
}

// assembly holds a kernel's functions in assembly. They process the first n elements or
// states, which must fill whole registers.
type assembly struct {
	lanes            int // of a register; 1 if every number is whole, 0 if there is no assembly
	product          func(upper, lower, a, b *goldilocks.Element, n int)
	reduce, mulByte  func(dst, a, b *goldilocks.Element, n int)
	spmv, spmvByte   func(dst, a, b *goldilocks.Element, n int)
	mmult, mmultByte func(dst, a *goldilocks.Element, matrix []goldilocks.Element, n int)
	// halves computes the product from four products of 32-bit halves, as the study does for
	// base SVE. It is nil if the kernel has no such function.
	halves func(upper, lower, a, b *goldilocks.Element, n int)
}

// whole returns the number of the first n elements that fill whole registers.
func (k *assembly) whole(n int) int { return n &^ (k.lanes - 1) }

// Names returns the names of the ten functions (see the package comment).
func Names() (names []string) {
	for _, f := range Functions(goldilocks.Portable()) {
		names = append(names, f.Name)
	}
	return names
}

// Functions returns the ten functions (see the package comment) on the given kernel. If the kernel has
// mult_128_halves, which is another way to compute mult_128, the result has this function after the
// ten. Function.Run panics if the lengths of its arguments do not match the same whole number of
// units. Its argument dst must not overlap a or b.
func Functions(on goldilocks.Kernel) []Function {
	k := assembled[on.String()]
	all := []Function{
		{Name: "add", Dst: 1, A: 1, B: 1, Run: func(dst, a, b []goldilocks.Element) { goldilocks.Add(dst, a, b, on) }},
		{Name: "sub", Dst: 1, A: 1, B: 1, Run: func(dst, a, b []goldilocks.Element) { goldilocks.Sub(dst, a, b, on) }},
		// a 2^64 + b.
		{Name: "reduce_128_64", Dst: 1, A: 1, B: 1, Words: true, Run: k.elements(k.reduce, reducePortable)},
		{Name: "square", Dst: 1, A: 1, B: 0, Run: func(dst, a, _ []goldilocks.Element) { goldilocks.Square(dst, a, on) }},
		// The upper words of all products, then the lower ones.
		{Name: "mult_128", Dst: 2, A: 1, B: 1, Words: true, Run: k.products(k.product)},
		{Name: "mult_72", Dst: 1, A: 1, B: 1, Bytes: true, Run: k.elements(k.mulByte, mulPortable)},
		// The sum of a state's three quarters times those of b, lane by lane.
		{Name: "spmv_4x12", Dst: quarterLen, A: stateLen, B: stateLen, Shared: true, Run: k.states(k.spmv)},
		{Name: "spmv_4x12_8", Dst: quarterLen, A: stateLen, B: stateLen, Shared: true, Bytes: true, Run: k.states(k.spmvByte)},
		// The matrix b, of 4 rows of 12, times a state.
		{Name: "mmult_4x12", Dst: quarterLen, A: stateLen, B: quarterLen * stateLen, Shared: true, Run: k.matrix(k.mmult)},
		{Name: "mmult_4x12_8", Dst: quarterLen, A: stateLen, B: quarterLen * stateLen, Shared: true, Bytes: true, Run: k.matrix(k.mmultByte)},
	}
	if k.halves != nil {
		all = append(all, Function{Name: "mult_128_halves", Base: "mult_128", Dst: 2, A: 1, B: 1, Words: true, Run: k.products(k.halves)})
	}
	for i, f := range all {
		all[i].Run = func(dst, a, b []goldilocks.Element) {
			units := len(dst) / f.Dst
			shared := units
			if f.Shared {
				shared = 1
			}
			if len(dst) != units*f.Dst || len(a) != units*f.A || len(b) != shared*f.B {
				panic(fmt.Sprintf("sve: %s of %d and %d elements to %d", f.Name, len(a), len(b), len(dst)))
			}
			f.Run(dst, a, b)
		}
	}
	return all
}

// function computes the vector dst from the vectors a and b.
type function = func(dst, a, b []goldilocks.Element)

// elements returns a function that calls wide for the elements that fill whole registers,
// and rest for the others.
func (k *assembly) elements(wide func(dst, a, b *goldilocks.Element, n int), rest function) function {
	return func(dst, a, b []goldilocks.Element) {
		n := k.whole(len(dst))
		if n > 0 {
			wide(&dst[0], &a[0], &b[0], n)
		}
		rest(dst[n:], a[n:], b[n:])
	}
}

func reducePortable(dst, a, b []goldilocks.Element) {
	for i := range dst {
		dst[i] = goldilocks.Reduce128(uint64(a[i]), uint64(b[i]))
	}
}

func mulPortable(dst, a, b []goldilocks.Element) { goldilocks.Mul(dst, a, b, goldilocks.Portable()) }

// products returns a function that computes both words of each product: the upper words of
// all products, then the lower ones.
func (k *assembly) products(wide func(upper, lower, a, b *goldilocks.Element, n int)) function {
	return func(dst, a, b []goldilocks.Element) {
		upper, lower, n := dst[:len(a)], dst[len(a):], k.whole(len(a))
		if n > 0 {
			wide(&upper[0], &lower[0], &a[0], &b[0], n)
		}
		for i := n; i < len(a); i++ {
			hi, lo := bits.Mul64(uint64(a[i]), uint64(b[i]))
			upper[i], lower[i] = goldilocks.Element(hi), goldilocks.Element(lo)
		}
	}
}

// The numbers of elements in a state and in its quarter.
const (
	stateLen   = 12
	quarterLen = 4
)

// states returns a function that multiplies each state's three quarters by those of b, and
// adds the products.
func (k *assembly) states(wide func(dst, a, b *goldilocks.Element, n int)) function {
	return func(dst, a, b []goldilocks.Element) {
		n := k.whole(len(dst)) / quarterLen
		if n > 0 {
			wide(&dst[0], &a[0], &b[0], n)
		}
		for s := n; s < len(dst)/quarterLen; s++ {
			state := a[s*stateLen:]
			for i := range quarterLen {
				x := []goldilocks.Element{state[i], state[i+4], state[i+8]}
				y := []goldilocks.Element{b[i], b[i+4], b[i+8]}
				dst[s*quarterLen+i] = goldilocks.Dot(x, y, goldilocks.Portable())
			}
		}
	}
}

// matrix returns a function that multiplies each state by the matrix b.
func (k *assembly) matrix(wide func(dst, a *goldilocks.Element, matrix []goldilocks.Element, n int)) function {
	return func(dst, a, b []goldilocks.Element) {
		n := k.whole(len(dst)) / quarterLen
		if n > 0 {
			wide(&dst[0], &a[0], b, n)
		}
		for s := n; s < len(dst)/quarterLen; s++ {
			for i := range quarterLen {
				dst[s*quarterLen+i] = goldilocks.Dot(a[s*stateLen:][:stateLen], b[i*stateLen:][:stateLen], goldilocks.Portable())
			}
		}
	}
}

// columnsOf returns the columns of a matrix, one after the other.
func columnsOf(rows []goldilocks.Element) (columns [quarterLen * stateLen]goldilocks.Element) {
	for i := range quarterLen {
		for j := range stateLen {
			columns[j*quarterLen+i] = rows[i*stateLen+j]
		}
	}
	return columns
}
