// Package vec52 implements arithmetic in prime fields and on points of elliptic curves, for eight elements or
// points at once. It uses limbs of 52 bits, because the instructions of AVX-512 IFMA multiply eight pairs of such
// limbs at once, one pair in each lane of a register.
//
// Eight elements form a block, which is stored limb by limb: word 8i+k is limb i of element k. An element x is
// represented by x R modulo p, where R is 2^(52 l) and l is the number of limbs (Montgomery 1985). The
// representation may be p or more; each function states its bound.
//
// Eight points form a group called a place, which has one block for each coordinate. All coordinates are below 1.1
// p. A place of affine points has the blocks x and y, and a place of projective points has X, Y and Z. Tables
// store each affine point as an entry: x and then y, both below p, in as few 64-bit words as possible.
//
// A transform has levels. Each level splits each part of a vector into halves: part b into parts 2b and 2b + 1 of
// the next level. The root of part b is exp(πi rev(b)), in the notation of complex roots of unity. The fraction
// rev(b) has the bits of b after the binary point, the least significant first.
package vec52

import (
	"fmt"
	"math/big"
	"unsafe"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/arith/vec52/layout"
)

//go:generate go run ./gen

// Width is the number of elements in a block, one for each lane.
const Width = 8

const (
	radix = 52
	low52 = 1<<radix - 1
)

// Kernel selects an implementation: vector instructions, or portable Go with the same limbs of 52 bits.
// The portable implementation is slow and serves as the reference for the vector instructions.
type Kernel struct{ name string }

// The kernels.
var (
	Portable = Kernel{"radix52"}
	IFMA     = Kernel{"avx512ifma"}
)

func (k Kernel) String() string { return k.name }

// Kernels returns the kernels that this processor and build support, the fastest last.
func Kernels() []Kernel {
	if hasIFMA {
		return []Kernel{Portable, IFMA}
	}
	return []Kernel{Portable}
}

// KernelNamed returns the kernel with the given name. It returns zkbench.ErrEnv if the processor or the build does
// not support it.
func KernelNamed(name string) (Kernel, error) {
	for _, k := range Kernels() {
		if k.name == name {
			return k, nil
		}
	}
	return Kernel{}, fmt.Errorf("%w: kernel: %q; accepted here: %v", zkbench.ErrEnv, name, Kernels())
}

// Field implements a prime field on a kernel. It is safe for concurrent use.
type Field struct {
	wide      bool
	limbs     int
	words     int // 64-bit words of an element in [0, p)
	p         *big.Int
	b         uint64
	constants []uint64 // indexed by layout.Limbs, aligned to a cache line
}

// New returns the field of order p on kernel k. The number p must be an odd prime of 209 to 256 or of 365 to 384
// bits. The limbs must have room for multiples of p: R (see the package comment) must be at least 32 p. The
// functions for projective points work on the curve y² = x³ + b; no other function uses b. New panics if p does
// not have 4 or 6 words of 64 bits.
func New(p *big.Int, b uint64, k Kernel) *Field {
	f := &Field{p: p, b: b, wide: k == IFMA, words: (p.BitLen() + 63) / 64}
	switch f.words {
	case 4:
		f.limbs = 5
	case 6:
		f.limbs = 8
	default:
		panic(fmt.Sprintf("vec52: a field of %d bits", p.BitLen()))
	}
	l := layout.Limbs(f.limbs)
	c := aligned(l.Words())
	f.constants = c
	set := func(at func(int) int, v *big.Int) {
		for i, limb := range f.split(v) {
			c[at(i)] = limb
		}
	}
	one := new(big.Int).Lsh(big.NewInt(1), radix)
	set(l.P, p)
	c[l.Mask()] = low52
	inverse := new(big.Int).ModInverse(p, one)
	c[l.Inverse()] = inverse.Sub(one, inverse).Uint64()
	// 2^52 2^(52 (limbs-1)) (1 - 1/256) / p.
	quotient := new(big.Int).Lsh(big.NewInt(255), uint(radix*f.limbs-8))
	c[l.Quotient()] = quotient.Div(quotient, p).Uint64()
	if f.limbs == 5 {
		fraction := new(big.Int).Lsh(one, uint(radix*(f.limbs-1)+layout.FractionBits))
		c[l.Fraction()] = fraction.Div(fraction, p).Uint64() - 1<<(layout.FractionBits-30)
	}
	set(l.Negative, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(radix*f.limbs)), p))
	set(l.One, f.Represent(big.NewInt(1)))
	set(l.ThriceB, f.Represent(new(big.Int).SetUint64(3*b)))
	for k := range Width {
		set(func(i int) int { return l.Multiples(i) + k }, new(big.Int).Mul(p, big.NewInt(int64(k))))
	}
	return f
}

// WithModulus returns the field of order p on the same kernel as f. The new field's b is 0 (see New).
func (f *Field) WithModulus(p *big.Int) *Field {
	if f.wide {
		return New(p, 0, IFMA)
	}
	return New(p, 0, Portable)
}

// aligned returns n zero words that begin at a cache line.
func aligned(n int) []uint64 {
	v := make([]uint64, n+7)
	at := int(-uintptr(unsafe.Pointer(&v[0])) % 64 / 8)
	return v[at : at+n : at+n]
}

// split cuts v into limbs.
func (f *Field) split(v *big.Int) []uint64 {
	out := make([]uint64, f.limbs)
	rest := new(big.Int).Set(v)
	mask := big.NewInt(low52)
	for i := range out {
		out[i] = new(big.Int).And(rest, mask).Uint64()
		rest.Rsh(rest, radix)
	}
	return out
}

// Represent returns the Montgomery form of v: v R modulo p, for R as in the package comment.
func (f *Field) Represent(v *big.Int) *big.Int {
	z := new(big.Int).Lsh(v, uint(radix*f.limbs))
	return z.Mod(z, f.p)
}

// Block returns the number of words in a block of eight elements. Eight affine points take twice as many.
func (f *Field) Block() int { return Width * f.limbs }

// Mul sets z = x y, element by element. z may be x or y. If one factor is below 4p and the other below 8p, the
// product is below 2p.
func (f *Field) Mul(z, x, y []uint64) {
	n := f.blocks(z, x, y)
	switch {
	case n == 0:
	case !f.wide:
		f.mulPortable(z, x, y)
	case f.limbs == 5:
		mul5(&z[0], &x[0], &y[0], &f.constants[0], n)
	default:
		mul8(&z[0], &x[0], &y[0], &f.constants[0], n)
	}
}

// Scale multiplies every block of z by the given block, element by element. The bounds are the same
// as for Mul.
func (f *Field) Scale(z, block []uint64) {
	n := f.blocks(z, z, z)
	switch {
	case n == 0:
	case !f.wide:
		for at := 0; at < len(z); at += f.Block() {
			f.mulPortable(z[at:at+f.Block()], z[at:at+f.Block()], block)
		}
	case f.limbs == 5:
		scale5(&z[0], &z[0], &block[0], &f.constants[0], n)
	default:
		scale8(&z[0], &z[0], &block[0], &f.constants[0], n)
	}
}

// Constant returns a block with v in every lane. It does not convert v to Montgomery form.
func (f *Field) Constant(v *big.Int) []uint64 {
	block := aligned(f.Block())
	var e element
	copy(e[:], f.split(v))
	f.fill(block, &e)
	return block
}

// Square sets z = x², element by element. z may be x. If x is below 4p, z is below 2p.
func (f *Field) Square(z, x []uint64) {
	n := f.blocks(z, x, x)
	switch {
	case n == 0:
	case !f.wide:
		f.mulPortable(z, x, x)
	case f.limbs == 5:
		square5(&z[0], &x[0], &f.constants[0], n)
	default:
		square8(&z[0], &x[0], &f.constants[0], n)
	}
}

func (f *Field) blocks(z, x, y []uint64) int {
	if len(x) != len(z) || len(y) != len(z) || len(z)%f.Block() != 0 {
		panic("vec52: lengths")
	}
	return len(z) / f.Block()
}

// Set sets element k of a block to a number. The parameter words has the number's 64-bit words, the least
// significant first. The number must fit in the limbs.
func (f *Field) Set(block []uint64, k int, words []uint64) {
	for i := range f.limbs {
		at, bit := radix*i/64, radix*i%64
		v := words[at] >> bit
		if at+1 < len(words) && bit > 12 {
			v |= words[at+1] << (64 - bit)
		}
		block[Width*i+k] = v & low52
	}
}

// CopyLane sets element j of block dst to element k of block src.
func (f *Field) CopyLane(dst []uint64, j int, src []uint64, k int) {
	for i := range f.limbs {
		dst[Width*i+j] = src[Width*i+k]
	}
}

// Get writes element k of a block to words, reduced modulo p. The element must be below 2p. Get does not branch on
// the element's value.
func (f *Field) Get(words, block []uint64, k int) {
	var e element
	f.load(&e, block, k)
	f.canonical(&e)
	clear(words)
	for i, limb := range e[:f.limbs] {
		at, bit := radix*i/64, radix*i%64
		words[at] |= limb << bit
		if bit > 12 && at+1 < len(words) {
			words[at+1] |= limb >> (64 - bit)
		}
	}
}
