package goldilocks

import (
	"fmt"
	"math/bits"
)

// The ten functions whose times and instructions the study of SVE compares.

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
	Run          func(dst, a, b []Element)
}

// Functions are the study's ten, by this kernel, and after them mult_128_halves where the
// kernel has that form of mult_128. Run panics if the lengths are not those of a number of
// units, and dst overlaps neither operand.
func (k Kernel) Functions() []Function {
	all := []Function{
		{Name: "add", Dst: 1, A: 1, B: 1, Run: k.Add},
		{Name: "sub", Dst: 1, A: 1, B: 1, Run: k.Sub},
		// a 2^64 + b.
		{Name: "reduce_128_64", Dst: 1, A: 1, B: 1, Words: true, Run: k.reduceElements},
		{Name: "square", Dst: 1, A: 1, B: 0, Run: func(dst, a, _ []Element) { k.Square(dst, a) }},
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
		all[i].Run = func(dst, a, b []Element) {
			units := len(dst) / f.Dst
			shared := units
			if f.Shared {
				shared = 1
			}
			if len(dst) != units*f.Dst || len(a) != units*f.A || len(b) != shared*f.B {
				panic(fmt.Sprintf("goldilocks: %s of %d and %d elements to %d", f.Name, len(a), len(b), len(dst)))
			}
			f.Run(dst, a, b)
		}
	}
	return all
}

func (k Kernel) reduceElements(dst, a, b []Element) {
	for i := k.reduceElementsWide(dst, a, b); i < len(dst); i++ {
		dst[i] = Reduce128(uint64(a[i]), uint64(b[i]))
	}
}

func (k Kernel) product(dst, a, b []Element) {
	upper, lower := dst[:len(a)], dst[len(a):]
	for i := k.productWide(upper, lower, a, b); i < len(a); i++ {
		hi, lo := bits.Mul64(uint64(a[i]), uint64(b[i]))
		upper[i], lower[i] = Element(hi), Element(lo)
	}
}

func (k Kernel) mulBytes(dst, a, b []Element) {
	n := k.mulBytesWide(dst, a, b)
	mulPortable(dst[n:], a[n:], b[n:])
}

// Units of the functions of states.
const (
	stateLen   = 12
	quarterLen = 4
)

func (k Kernel) spmv(dst, a, b []Element)      { spmvPortable(dst, a, b, k.spmvWide(dst, a, b)) }
func (k Kernel) spmvBytes(dst, a, b []Element) { spmvPortable(dst, a, b, k.spmvBytesWide(dst, a, b)) }

// spmvPortable does the states from the first on.
func spmvPortable(dst, a, b []Element, first int) {
	for s := first; s < len(dst)/quarterLen; s++ {
		state := a[s*stateLen:]
		for i := range quarterLen {
			var c sum
			for j := i; j < stateLen; j += quarterLen {
				c.add(state[j], b[j])
			}
			dst[s*quarterLen+i] = c.element()
		}
	}
}

func (k Kernel) mmult(dst, a, b []Element) {
	columns := columnsOf(b)
	mmultPortable(dst, a, b, k.mmultWide(dst, a, &columns))
}

func (k Kernel) mmultBytes(dst, a, b []Element) {
	columns := columnsOf(b)
	mmultPortable(dst, a, b, k.mmultBytesWide(dst, a, &columns))
}

// columnsOf are the matrix's columns, one after the other.
func columnsOf(rows []Element) (columns [quarterLen * stateLen]Element) {
	for i := range quarterLen {
		for j := range stateLen {
			columns[j*quarterLen+i] = rows[i*stateLen+j]
		}
	}
	return columns
}

// mmultPortable does the states from the first on.
func mmultPortable(dst, a, b []Element, first int) {
	for s := first; s < len(dst)/quarterLen; s++ {
		for i := range quarterLen {
			dst[s*quarterLen+i] = dotPortable(a[s*stateLen:][:stateLen], b[i*stateLen:][:stateLen])
		}
	}
}
