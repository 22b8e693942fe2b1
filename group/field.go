package group

import (
	"math/big"
	"slices"

	"github.com/zkbench/zkbench/internal/sys/vector"
)

// elementPtr lists the methods that the group code needs of one field element of gnark-crypto.
// These calls go through a type dictionary, so hot loops do not use them.
type elementPtr[E any] interface {
	*E
	Add(a, b *E) *E
	Sub(a, b *E) *E
	Mul(a, b *E) *E
	Square(a *E) *E
	Double(a *E) *E
	Neg(a *E) *E
	Inverse(a *E) *E
	IsZero() bool
	SetUint64(v uint64) *E
	SetBigInt(v *big.Int) *E
	SetBytesCanonical(b []byte) error
	LexicographicallyLargest() bool
	Select(c int, x0, x1 *E) *E // x0 for c = 0, else x1, without a branch
}

// vectorOps are a field's operations on whole slices, bound to gnark-crypto's
// Vector methods: AVX-512 code for four-limb fields if the processor has it,
// portable loops elsewhere; gnark-crypto chooses at run time. Each curve binds
// them itself, to types that the compiler knows: a Vector method called through
// a type parameter would put its receiver on the heap at every call.
type vectorOps[E any] struct {
	add, sub, mul func(z, a, b []E)
	scale         func(z, a []E, c *E)
}

// cleared returns the operations with vector.Clear after each, which gnark-crypto's code for AVX-512 leaves out.
func (o *vectorOps[E]) cleared() *vectorOps[E] {
	then := func(op func(z, a, b []E)) func(z, a, b []E) {
		return func(z, a, b []E) {
			op(z, a, b)
			vector.Clear()
		}
	}
	return &vectorOps[E]{add: then(o.add), sub: then(o.sub), mul: then(o.mul), scale: func(z, a []E, c *E) {
		o.scale(z, a, c)
		vector.Clear()
	}}
}

// inverter is the working memory of invertAll. Operands of calls through the type dictionary are
// fields of such structs: as locals they would be heap-allocated at every call.
type inverter[E any] struct {
	acc    E
	prefix [invertTop]E
}

// invertTop is the size from which invertAll uses a chain instead of a product tree.
const invertTop = 4

// invertAll inverts v[:n] in place, with 3 multiplications per element, all but the last few in
// vectors. If an element is zero, it leaves v[:n] as it was and returns false. The levels of the
// product tree follow each other in v, which needs room for 2n+64 elements; tmp needs room for n/2.
func invertAll[E comparable, PE elementPtr[E]](ops *vectorOps[E], v []E, n int, tmp []E, s *inverter[E]) bool {
	// Each level multiplies its halves; an odd level's middle element passes up.
	var sizes [40]int
	depth, base := 0, 0
	for sizes[0] = n; sizes[depth] > invertTop; depth++ {
		m := sizes[depth]
		h := m / 2
		next := v[base+m:]
		ops.mul(next[:h], v[base:base+h], v[base+m-h:base+m])
		if m%2 == 1 {
			next[h] = v[base+h]
		}
		sizes[depth+1] = m - h
		base += m
	}
	var zero E
	acc := PE(&s.acc)
	top := v[base : base+sizes[depth]]
	acc.SetUint64(1)
	for i := range top {
		s.prefix[i] = s.acc
		acc.Mul(&s.acc, &top[i])
	}
	if s.acc == zero {
		return false
	}
	acc.Inverse(&s.acc)
	for i := len(top) - 1; i >= 0; i-- {
		PE(&s.prefix[i]).Mul(&s.prefix[i], &s.acc)
		acc.Mul(&s.acc, &top[i])
		top[i] = s.prefix[i]
	}
	for ; depth > 0; depth-- {
		m := sizes[depth-1]
		h := m / 2
		inv := v[base : base+m-h]
		base -= m
		lo, hi := v[base:base+h], v[base+m-h:base+m]
		ops.mul(tmp[:h], inv[:h], hi)
		ops.mul(hi, inv[:h], lo)
		copy(lo, tmp[:h])
		if m%2 == 1 {
			v[base+h] = inv[h]
		}
	}
	return true
}

// resize returns a slice of length n, and reuses s if it is large enough. The contents are
// unspecified.
func resize[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return slices.Grow(s[:0], n)[:n]
}
