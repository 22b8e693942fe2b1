// Package poly has vectors over BN254's scalar field, for provers: columns, polynomials and
// their values, and the transforms between these. Where the processor has instructions for it
// vectors lie in lanes of eight, in radix 52; elsewhere they are gnark-crypto's elements.
package poly

import (
	"fmt"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/arith/vec52"
	"github.com/zkbench/zkbench/internal/sys/mapped"
)

// Form is how vectors lie in memory. Vectors of different forms do not mix.
type Form struct {
	name  string
	field *vec52.Field // nil: gnark-crypto's elements
}

var plain = &Form{name: "portable"}

// Forms are those of this processor and build, the fastest last.
func Forms() []*Form {
	forms := []*Form{plain}
	for _, k := range vec52.Kernels() {
		if k != vec52.Portable {
			forms = append(forms, inLanes(k))
		}
	}
	return forms
}

func inLanes(k vec52.Kernel) *Form {
	return &Form{k.String(), vec52.New(fr.Modulus(), 0, k)}
}

var fastest = Forms()[len(Forms())-1]

// Fastest is the form to take.
func Fastest() *Form { return fastest }

func (f *Form) String() string { return f.name }

// Vector is a number of elements, numbered from 0. The zero value has none.
type Vector struct {
	form  *Form
	n     int
	words []uint64 // in lanes: blocks, the last filled up by elements that mean nothing
	plain fr.Vector
}

// New is n zeros.
func (f *Form) New(n int) Vector {
	v := Vector{form: f, n: n}
	if f.field == nil {
		v.plain = make(fr.Vector, n)
	} else {
		v.words = vec52.Resize(nil, (n+vec52.Width-1)/vec52.Width*f.field.Block())
	}
	return v
}

// Like is n zeros of v's form.
func (v Vector) Like(n int) Vector { return v.form.New(n) }

// Of is a vector of elements.
func (f *Form) Of(elements []fr.Element) Vector {
	v := f.New(len(elements))
	v.Set(elements)
	return v
}

// Bytes is the memory of n elements, a multiple of eight.
func (f *Form) Bytes(n int) int {
	if f.field == nil {
		return n * fr.Bytes
	}
	return n / vec52.Width * f.field.Block() * 8
}

// In is n elements, a multiple of eight, that lie in memory as Vector.Memory has them: aligned for
// 64-bit words, and not copied.
func (f *Form) In(memory []byte, n int) Vector {
	v := Vector{form: f, n: n}
	if f.field == nil {
		v.plain = mapped.Values[fr.Element](memory[:f.Bytes(n)])
	} else {
		v.words = mapped.Values[uint64](memory[:f.Bytes(n)])
	}
	return v
}

// Memory is that of the elements, of which there are a multiple of eight.
func (v Vector) Memory() []byte {
	if v.form.field == nil {
		return mapped.Bytes(v.plain)
	}
	return mapped.Bytes(v.words)[:v.form.Bytes(v.n)]
}

// Len is the number of elements.
func (v Vector) Len() int { return v.n }

// Slice is elements from lo to hi, not copied; lo is a multiple of eight.
func (v Vector) Slice(lo, hi int) Vector {
	if lo%vec52.Width != 0 || lo > hi || hi > v.n {
		panic(fmt.Sprintf("poly: elements %d to %d of %d", lo, hi, v.n))
	}
	s := Vector{form: v.form, n: hi - lo}
	if v.form.field == nil {
		s.plain = v.plain[lo:hi]
	} else {
		block := v.form.field.Block()
		s.words = v.words[lo/vec52.Width*block : (hi+vec52.Width-1)/vec52.Width*block]
	}
	return s
}

// Set sets all elements.
func (v Vector) Set(elements []fr.Element) {
	v.same(len(elements))
	if v.form.field == nil {
		copy(v.plain, elements)
		return
	}
	f := v.form.field
	whole := v.n / vec52.Width
	if whole > 0 {
		f.In(v.words[:whole*f.Block()], firstWord(elements))
	}
	if rest := elements[whole*vec52.Width:]; len(rest) > 0 {
		var last [vec52.Width]fr.Element
		copy(last[:], rest)
		f.In(v.words[whole*f.Block():], firstWord(last[:]))
	}
}

// Get gets all elements.
func (v Vector) Get(elements []fr.Element) {
	v.same(len(elements))
	if v.form.field == nil {
		copy(elements, v.plain)
		return
	}
	f := v.form.field
	whole := v.n / vec52.Width
	if whole > 0 {
		f.Out(firstWord(elements), v.words[:whole*f.Block()])
	}
	if rest := elements[whole*vec52.Width:]; len(rest) > 0 {
		var last [vec52.Width]fr.Element
		f.Out(firstWord(last[:]), v.words[whole*f.Block():])
		copy(rest, last[:])
	}
}

// Elements are all elements.
func (v Vector) Elements() []fr.Element {
	e := make([]fr.Element, v.n)
	v.Get(e)
	return e
}

func firstWord(e []fr.Element) *uint64 { return (*uint64)(unsafe.Pointer(unsafe.SliceData(e))) }

func (v Vector) same(n int) {
	if v.n != n {
		panic(fmt.Sprintf("poly: %d elements for %d", n, v.n))
	}
}

// like holds an operand to v's form and length.
func (v Vector) like(x Vector) {
	v.same(x.n)
	if v.form != x.form {
		panic("poly: vectors of two forms")
	}
}

// Copy sets v to x.
func (v Vector) Copy(x Vector) {
	v.like(x)
	copy(v.plain, x.plain)
	copy(v.words, x.words)
}

// Mul sets v = x y, element by element, Add v = x + y and Sub v = x - y. v may be an operand.
func (v Vector) Mul(x, y Vector) {
	v.like(x)
	v.like(y)
	if v.form.field == nil {
		v.plain.Mul(x.plain, y.plain)
		return
	}
	v.form.field.Mul(v.words, x.words, y.words)
}

// Add is a method of Mul's kind.
func (v Vector) Add(x, y Vector) {
	v.like(x)
	v.like(y)
	if v.form.field == nil {
		v.plain.Add(x.plain, y.plain)
		return
	}
	v.form.field.AddVectors(v.words, x.words, y.words)
}

// Sub is a method of Mul's kind.
func (v Vector) Sub(x, y Vector) {
	v.like(x)
	v.like(y)
	if v.form.field == nil {
		v.plain.Sub(x.plain, y.plain)
		return
	}
	v.form.field.SubVectors(v.words, x.words, y.words)
}

// Scale multiplies all elements by c.
func (v Vector) Scale(c *fr.Element) {
	if v.form.field == nil {
		v.plain.ScalarMul(v.plain, c)
		return
	}
	v.form.field.Scale(v.words, v.form.block(c).words)
}

// block is c eight times.
func (f *Form) block(c *fr.Element) Vector {
	var e [vec52.Width]fr.Element
	for i := range e {
		e[i] = *c
	}
	return f.Of(e[:])
}
