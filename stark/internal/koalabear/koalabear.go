// Package koalabear wraps gnark-crypto's field of 2^31 - 2^24 + 1 elements and its extensions of degrees
// four and six. The operations take and return elements as values, not as pointers. With AVX-512,
// vectors and transforms use this package's kernels, and otherwise gnark-crypto's functions.
package koalabear

import (
	"unsafe"

	gnark "github.com/consensys/gnark-crypto/field/koalabear"
	"github.com/consensys/gnark-crypto/field/koalabear/extensions"
)

// Constants of the field.
const (
	Modulus    = 1<<31 - 1<<24 + 1
	TwoAdicity = 24
	Generator  = 3 // generates the multiplicative group
)

// Element is an element of the field in Montgomery form. It is stored as one word w, which is below Modulus
// and stands for w / 2^32.
type Element [1]uint32

func (a *Element) gnark() *gnark.Element { return (*gnark.Element)(a) }

// New returns v modulo Modulus.
func New(v uint64) Element { return Element(gnark.NewElement(v)) }

// Uint64 returns the element as a number below Modulus.
func (a Element) Uint64() uint64 { return a.gnark().Uint64() }

// Canonical reports whether the word that stores a is below Modulus. An element that was decoded from words
// may fail this test; all others pass it.
func (a Element) Canonical() bool { return a[0] < Modulus }

// Add returns the sum a + b.
func (a Element) Add(b Element) (c Element) {
	c.gnark().Add(a.gnark(), b.gnark())
	return c
}

// Sub returns the difference a - b.
func (a Element) Sub(b Element) (c Element) {
	c.gnark().Sub(a.gnark(), b.gnark())
	return c
}

// Mul returns the product a b.
func (a Element) Mul(b Element) (c Element) {
	c.gnark().Mul(a.gnark(), b.gnark())
	return c
}

// Inverse returns 1/a, or 0 if a is 0.
func (a Element) Inverse() (c Element) {
	c.gnark().Inverse(a.gnark())
	return c
}

// Vector returns elements as gnark-crypto's vector, in the same memory.
func Vector(a []Element) gnark.Vector {
	return unsafe.Slice((*gnark.Element)(unsafe.SliceData(a)), len(a))
}

// Quartic is an element of gnark-crypto's extension E4. Its coordinates belong to the basis 1, u, v, u v,
// with u² = 3 and v² = u.
type Quartic [4]Element

func (a *Quartic) gnark() *extensions.E4 { return (*extensions.E4)(unsafe.Pointer(a)) }

// Add returns the sum a + b.
func (a Quartic) Add(b Quartic) (c Quartic) {
	c.gnark().Add(a.gnark(), b.gnark())
	return c
}

// Sub returns the difference a - b.
func (a Quartic) Sub(b Quartic) (c Quartic) {
	c.gnark().Sub(a.gnark(), b.gnark())
	return c
}

// Mul returns the product a b.
func (a Quartic) Mul(b Quartic) (c Quartic) {
	c.gnark().Mul(a.gnark(), b.gnark())
	return c
}

// MulBase returns a times an element b of the field.
func (a Quartic) MulBase(b Element) (c Quartic) {
	c.gnark().MulByElement(a.gnark(), b.gnark())
	return c
}

// Inverse returns 1/a, or 0 if a is 0.
func (a Quartic) Inverse() (c Quartic) {
	c.gnark().Inverse(a.gnark())
	return c
}

// Sextic is an element of gnark-crypto's extension E6. Its coordinates belong to the basis 1, u, w, u w, w²,
// u w², with u² = 3 and w³ = 1 + u.
type Sextic [6]Element

func (a *Sextic) gnark() *extensions.E6 { return (*extensions.E6)(unsafe.Pointer(a)) }

// Add returns the sum a + b.
func (a Sextic) Add(b Sextic) (c Sextic) {
	c.gnark().Add(a.gnark(), b.gnark())
	return c
}

// Sub returns the difference a - b.
func (a Sextic) Sub(b Sextic) (c Sextic) {
	c.gnark().Sub(a.gnark(), b.gnark())
	return c
}

// Mul returns the product a b.
func (a Sextic) Mul(b Sextic) (c Sextic) {
	c.gnark().Mul(a.gnark(), b.gnark())
	return c
}

// MulBase returns a times an element b of the field.
func (a Sextic) MulBase(b Element) (c Sextic) {
	c.gnark().MulByElement(a.gnark(), b.gnark())
	return c
}

// Inverse returns 1/a, or 0 if a is 0.
func (a Sextic) Inverse() (c Sextic) {
	c.gnark().Inverse(a.gnark())
	return c
}
