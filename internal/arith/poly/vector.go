// Package poly implements vectors over BN254's scalar field for provers: arithmetic on columns and polynomials,
// and the transforms between a polynomial's coefficients and its values. If the processor has AVX-512 IFMA, a
// vector is stored in blocks of eight elements, whose limbs have 52 bits (see package vec52). Otherwise a vector
// is a slice of gnark-crypto's elements.
package poly

import (
	"fmt"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/arith/vec52"
	"github.com/zkbench/zkbench/internal/sys/mapped"
)

// Form says how vectors are stored in memory. Operations panic if their operands have different forms.
type Form struct {
	name  string
	field *vec52.Field // nil: gnark-crypto's elements
}

var plain = &Form{name: "portable"}

// Forms returns the forms that this processor and build support, the fastest last.
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

// Fastest returns the fastest form. Programs should use it.
func Fastest() *Form { return fastest }

func (f *Form) String() string { return f.name }

// Vector is a list of elements, indexed from 0. The zero value has no elements. A copy of a Vector shares its
// elements.
type Vector struct {
	form  *Form
	n     int
	words []uint64 // in lanes: blocks, the last one padded with elements that mean nothing
	plain fr.Vector
}

// New returns a vector of n zeros.
func (f *Form) New(n int) Vector {
	v := Vector{form: f, n: n}
	if f.field == nil {
		v.plain = make(fr.Vector, n)
	} else {
		v.words = vec52.Resize(nil, (n+vec52.Width-1)/vec52.Width*f.field.Block())
	}
	return v
}

// NewLike returns a vector of n zeros in v's form.
func (v Vector) NewLike(n int) Vector { return v.form.New(n) }

// FromElements returns a new vector with the given elements.
func (f *Form) FromElements(elements []fr.Element) Vector {
	v := f.New(len(elements))
	v.Set(elements)
	return v
}

// Bytes returns how many bytes of memory n elements take. n must be a multiple of eight.
func (f *Form) Bytes(n int) int {
	if f.field == nil {
		return n * fr.Bytes
	}
	return n / vec52.Width * f.field.Block() * 8
}

// FromMemory returns a vector whose n elements are in the given memory, in the layout of Vector.Memory. It does
// not copy them. The number n must be a multiple of eight, and the memory must be aligned for 64-bit words.
func (f *Form) FromMemory(memory []byte, n int) Vector {
	v := Vector{form: f, n: n}
	if f.field == nil {
		v.plain = mapped.Values[fr.Element](memory[:f.Bytes(n)])
	} else {
		v.words = mapped.Values[uint64](memory[:f.Bytes(n)])
	}
	return v
}

// Memory returns the bytes that hold the elements. The bytes are not a copy. Len must be a multiple of
// eight.
func (v Vector) Memory() []byte {
	if v.form.field == nil {
		return mapped.Bytes(v.plain)
	}
	return mapped.Bytes(v.words)[:v.form.Bytes(v.n)]
}

// Len returns the number of elements.
func (v Vector) Len() int { return v.n }

// Slice returns elements lo to hi-1. It shares their memory with v. Slice panics if lo is not a multiple of eight.
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

// Set copies the slice elements into v. It panics if the slice's length is not v.Len().
func (v Vector) Set(elements []fr.Element) {
	v.checkLen(len(elements))
	if v.form.field == nil {
		copy(v.plain, elements)
		return
	}
	f := v.form.field
	whole := v.n / vec52.Width
	if whole > 0 {
		f.Import(v.words[:whole*f.Block()], firstWord(elements))
	}
	if rest := elements[whole*vec52.Width:]; len(rest) > 0 {
		var last [vec52.Width]fr.Element
		copy(last[:], rest)
		f.Import(v.words[whole*f.Block():], firstWord(last[:]))
	}
}

// Get copies the elements of v into the slice elements. It panics if the slice's length is not
// v.Len().
func (v Vector) Get(elements []fr.Element) {
	v.checkLen(len(elements))
	if v.form.field == nil {
		copy(elements, v.plain)
		return
	}
	f := v.form.field
	whole := v.n / vec52.Width
	if whole > 0 {
		f.Export(firstWord(elements), v.words[:whole*f.Block()])
	}
	if rest := elements[whole*vec52.Width:]; len(rest) > 0 {
		var last [vec52.Width]fr.Element
		f.Export(firstWord(last[:]), v.words[whole*f.Block():])
		copy(rest, last[:])
	}
}

// Elements returns a copy of all elements.
func (v Vector) Elements() []fr.Element {
	e := make([]fr.Element, v.n)
	v.Get(e)
	return e
}

func firstWord(e []fr.Element) *uint64 { return (*uint64)(unsafe.Pointer(unsafe.SliceData(e))) }

func (v Vector) checkLen(n int) {
	if v.n != n {
		panic(fmt.Sprintf("poly: %d elements for %d", n, v.n))
	}
}

// checkOperand panics if x does not have v's form and length.
func (v Vector) checkOperand(x Vector) {
	v.checkLen(x.n)
	if v.form != x.form {
		panic("poly: vectors of two forms")
	}
}

// Copy sets v to x. Like all methods with vector operands, it panics if x has another length or form.
func (v Vector) Copy(x Vector) {
	v.checkOperand(x)
	copy(v.plain, x.plain)
	copy(v.words, x.words)
}

// Mul sets v = x y, element by element. v may be x or y.
func (v Vector) Mul(x, y Vector) {
	v.checkOperand(x)
	v.checkOperand(y)
	if v.form.field == nil {
		v.plain.Mul(x.plain, y.plain)
		return
	}
	v.form.field.Mul(v.words, x.words, y.words)
}

// Add sets v = x + y, element by element. v may be x or y.
func (v Vector) Add(x, y Vector) {
	v.checkOperand(x)
	v.checkOperand(y)
	if v.form.field == nil {
		v.plain.Add(x.plain, y.plain)
		return
	}
	v.form.field.AddVectors(v.words, x.words, y.words)
}

// Sub sets v = x - y, element by element. v may be x or y.
func (v Vector) Sub(x, y Vector) {
	v.checkOperand(x)
	v.checkOperand(y)
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
	var lanes repeated
	v.form.field.Scale(v.words, lanes.of(v.form, c))
}

// Fill sets all elements to c.
func (v Vector) Fill(c *fr.Element) {
	if v.form.field == nil {
		for i := range v.plain {
			v.plain[i] = *c
		}
		return
	}
	var lanes repeated
	words := lanes.of(v.form, c)
	for at := v.words; len(at) > 0; at = at[len(words):] {
		copy(at, words)
	}
}

// repeated has room for a block of any field with elements of four words. It is not garbage.
type repeated [vec52.Width * 5]uint64

// of sets a block to c in all lanes.
func (b *repeated) of(f *Form, c *fr.Element) []uint64 {
	var e [vec52.Width]fr.Element
	for i := range e {
		e[i] = *c
	}
	words := b[:f.field.Block()]
	f.field.Import(words, firstWord(e[:]))
	return words
}
