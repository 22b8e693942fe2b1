// Package sve has the ten functions over the Goldilocks field whose times and instructions
// the study of ARM SVE compares, on every kernel.
package sve

import (
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench/goldilocks"
)

// Function is one of them: on n units, dst is made of a and b.
type Function struct {
	Name string
	Of   string // of another way to one of the ten: that one's name
	// Dst, A and B are how many elements of each there are to a unit; if Shared, B is how
	// many there are in all.
	Dst, A, B int
	Shared    bool
	// Bytes tells that the elements of b are below 2^8, and Words that a and b are any
	// 64-bit numbers.
	Bytes, Words bool
	Run          func(dst, a, b []goldilocks.Element)
}

// kernel is the name of one of package goldilocks.
type kernel string

// Kernels that some functions have assembly for.
const (
	portable kernel = "portable"
	avx2     kernel = "avx2"
	avx512   kernel = "avx512"
	sve      kernel = "sve"
	sve2     kernel = "sve2"
)

// Names are those of the study's ten.
func Names() (names []string) {
	for _, f := range Functions(goldilocks.Portable()) {
		names = append(names, f.Name)
	}
	return names
}

// Functions are the study's ten, by a kernel, and after them mult_128_halves where the
// kernel has that form of mult_128. Run panics if the lengths are not those of a number of
// units, and dst overlaps neither operand.
func Functions(on goldilocks.Kernel) []Function {
	k := kernel(on.String())
	all := []Function{
		{Name: "add", Dst: 1, A: 1, B: 1, Run: func(dst, a, b []goldilocks.Element) { goldilocks.Add(dst, a, b, on) }},
		{Name: "sub", Dst: 1, A: 1, B: 1, Run: func(dst, a, b []goldilocks.Element) { goldilocks.Sub(dst, a, b, on) }},
		// a 2^64 + b.
		{Name: "reduce_128_64", Dst: 1, A: 1, B: 1, Words: true, Run: k.reduce},
		{Name: "square", Dst: 1, A: 1, B: 0, Run: func(dst, a, _ []goldilocks.Element) { goldilocks.Square(dst, a, on) }},
		// The upper words of all products, then the lower ones.
		{Name: "mult_128", Dst: 2, A: 1, B: 1, Words: true, Run: k.product},
		{Name: "mult_72", Dst: 1, A: 1, B: 1, Bytes: true, Run: k.mulBytes},
		// The sum of a state's three quarters times those of b, lane by lane.
		{Name: "spmv_4x12", Dst: quarterLen, A: stateLen, B: stateLen, Shared: true, Run: k.spmv},
		{Name: "spmv_4x12_8", Dst: quarterLen, A: stateLen, B: stateLen, Shared: true, Bytes: true, Run: k.spmvBytes},
		// The matrix b, of 4 rows of 12, times a state.
		{Name: "mmult_4x12", Dst: quarterLen, A: stateLen, B: quarterLen * stateLen, Shared: true, Run: k.mmult},
		{Name: "mmult_4x12_8", Dst: quarterLen, A: stateLen, B: quarterLen * stateLen, Shared: true, Bytes: true, Run: k.mmultBytes},
	}
	all = append(all, k.alternatives()...)
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

func (k kernel) reduce(dst, a, b []goldilocks.Element) {
	for i := k.reduceWide(dst, a, b); i < len(dst); i++ {
		dst[i] = goldilocks.Reduce128(uint64(a[i]), uint64(b[i]))
	}
}

func (k kernel) product(dst, a, b []goldilocks.Element) {
	upper, lower := dst[:len(a)], dst[len(a):]
	for i := k.productWide(upper, lower, a, b); i < len(a); i++ {
		hi, lo := bits.Mul64(uint64(a[i]), uint64(b[i]))
		upper[i], lower[i] = goldilocks.Element(hi), goldilocks.Element(lo)
	}
}

func (k kernel) mulBytes(dst, a, b []goldilocks.Element) {
	n := k.mulBytesWide(dst, a, b)
	goldilocks.Mul(dst[n:], a[n:], b[n:], goldilocks.Portable())
}

// Units of the functions of states.
const (
	stateLen   = 12
	quarterLen = 4
)

func (k kernel) spmv(dst, a, b []goldilocks.Element) { spmvPortable(dst, a, b, k.spmvWide(dst, a, b)) }

func (k kernel) spmvBytes(dst, a, b []goldilocks.Element) {
	spmvPortable(dst, a, b, k.spmvBytesWide(dst, a, b))
}

// spmvPortable does the states from the first on.
func spmvPortable(dst, a, b []goldilocks.Element, first int) {
	for s := first; s < len(dst)/quarterLen; s++ {
		state := a[s*stateLen:]
		for i := range quarterLen {
			x := []goldilocks.Element{state[i], state[i+4], state[i+8]}
			y := []goldilocks.Element{b[i], b[i+4], b[i+8]}
			dst[s*quarterLen+i] = goldilocks.Dot(x, y, goldilocks.Portable())
		}
	}
}

func (k kernel) mmult(dst, a, b []goldilocks.Element) {
	columns := columnsOf(b)
	mmultPortable(dst, a, b, k.mmultWide(dst, a, &columns))
}

func (k kernel) mmultBytes(dst, a, b []goldilocks.Element) {
	columns := columnsOf(b)
	mmultPortable(dst, a, b, k.mmultBytesWide(dst, a, &columns))
}

// columnsOf are the matrix's columns, one after the other.
func columnsOf(rows []goldilocks.Element) (columns [quarterLen * stateLen]goldilocks.Element) {
	for i := range quarterLen {
		for j := range stateLen {
			columns[j*quarterLen+i] = rows[i*stateLen+j]
		}
	}
	return columns
}

// mmultPortable does the states from the first on.
func mmultPortable(dst, a, b []goldilocks.Element, first int) {
	for s := first; s < len(dst)/quarterLen; s++ {
		for i := range quarterLen {
			dst[s*quarterLen+i] = goldilocks.Dot(a[s*stateLen:][:stateLen], b[i*stateLen:][:stateLen], goldilocks.Portable())
		}
	}
}
