package poly

import (
	"context"
	"fmt"
	"math/big"
	"math/bits"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/vec52"
	"github.com/zkbench/zkbench/internal/sys/memory"
)

// TwoAdicity is the largest k for which the field has a root of unity of order 2^k.
const TwoAdicity = 28

// Order says at which index a vector holds the coefficient or value with number i: at i, or at the number that i
// becomes when its bits are reversed.
type Order int

// The two orders of a vector.
const (
	Natural     Order = iota // element i is at index i
	BitReversed              // element i is at the index whose bits are those of i backwards
)

// Domain is the group of n-th roots of unity, where n is a power of two. Element number i of the domain is Root^i. A
// Domain also holds the tables for transforms, which work on vectors of one Form. It is safe for concurrent use.
type Domain struct {
	form    *Form
	n       int
	root    fr.Element
	inverse fr.Element // 1/n
	tables  [2]func() *tables
	chunks  sync.Pool // of *chunkPowers
}

// NewDomain returns the domain of n elements. It returns zkbench.ErrParams if n is not a power of two up to 2^28.
// If the tables do not fit in memory, it allocates nothing and returns zkbench.ErrLimit with their size.
func (f *Form) NewDomain(n int) (*Domain, error) {
	if n < 1 || n&(n-1) != 0 || bits.Len(uint(n))-1 > TwoAdicity {
		return nil, fmt.Errorf("%w: domain of %d elements, accepted are powers of two from 1 to 2^%d", zkbench.ErrParams, n, TwoAdicity)
	}
	if err := memory.Fits("the domain's tables", 2*f.tableBytes(n)); err != nil {
		return nil, err
	}
	d := &Domain{form: f, n: n, root: Root(n)}
	d.inverse.SetUint64(uint64(n)).Inverse(&d.inverse)
	for i := range d.tables {
		d.tables[i] = sync.OnceValue(func() *tables { return f.newTables(n, i == 1) })
	}
	return d, nil
}

// Root returns gnark-crypto's root of unity of order n, which must be a power of two. It panics if n is more than
// 2^TwoAdicity.
func Root(n int) fr.Element {
	root, err := fft.Generator(uint64(n))
	if err != nil {
		panic("poly: " + err.Error()) // n is at most 2^TwoAdicity
	}
	return root
}

// Size returns the number of elements of the domain.
func (d *Domain) Size() int { return d.n }

// Root returns the element of order Size that generates the domain, the same one that gnark-crypto uses.
func (d *Domain) Root() fr.Element { return d.root }

// NTT replaces the coefficients of a polynomial of degree below Size by the polynomial's values on a coset. The
// coset consists of shift times each element of the domain. The coefficients must be in the order given by the
// parameter from. The values are then in the other order.
//
// NTT leaves v unchanged and returns zkbench.ErrParams if v does not have the domain's length and form, or if
// shift is 0. If ctx is done it returns the context's cause, and the contents of v are unspecified.
func (d *Domain) NTT(ctx context.Context, ex executor.Executor, v Vector, from Order, shift *fr.Element) error {
	if err := d.check(v, from, shift); err != nil {
		return err
	}
	one := fr.One()
	if err := d.scale(ctx, ex, v, from, &one, shift); err != nil {
		return err
	}
	return d.transform(ctx, ex, v, from, d.tables[0]())
}

// InverseNTT reverses NTT: it replaces the values on the coset by the coefficients. The values must be in the order
// given by the parameter from. The coefficients are then in the other order. InverseNTT returns the same errors as
// NTT.
func (d *Domain) InverseNTT(ctx context.Context, ex executor.Executor, v Vector, from Order, shift *fr.Element) error {
	if err := d.check(v, from, shift); err != nil {
		return err
	}
	if err := d.transform(ctx, ex, v, from, d.tables[1]()); err != nil {
		return err
	}
	var back fr.Element
	return d.scale(ctx, ex, v, BitReversed-from, &d.inverse, back.Inverse(shift))
}

func (d *Domain) check(v Vector, from Order, shift *fr.Element) error {
	switch {
	case v.n != d.n || v.form != d.form:
		return fmt.Errorf("%w: vector of %d elements (%v), accepted is the domain's %d (%v)", zkbench.ErrParams, v.n, v.form, d.n, d.form)
	case from != Natural && from != BitReversed:
		return fmt.Errorf("%w: order %d, accepted are 0, natural, and 1, bit-reversed", zkbench.ErrParams, from)
	case shift.IsZero():
		return fmt.Errorf("%w: shift 0, accepted are others", zkbench.ErrParams)
	}
	return nil
}

// chunk is how many elements are scaled at once. The powers for this many fit in the first-level cache.
const chunk = 1 << 9

// chunkPowers holds the powers that scale needs for a chunk. A transform of a short vector would otherwise leave as much
// garbage as the vector.
type chunkPowers struct {
	elements []fr.Element
	vector   Vector
}

// scale multiplies the coefficient of X^i by c s^i.
func (d *Domain) scale(ctx context.Context, ex executor.Executor, v Vector, order Order, c, s *fr.Element) error {
	if s.IsOne() && c.IsOne() {
		return nil
	}
	m := min(d.n, chunk)
	factors := make([]fr.Element, d.n/m)
	var powers Vector
	switch {
	case s.IsOne():
		for i := range factors {
			factors[i] = *c
		}
	default:
		p, ok := d.chunks.Get().(*chunkPowers)
		if !ok {
			p = &chunkPowers{make([]fr.Element, m), d.form.New(m)}
		}
		defer d.chunks.Put(p)
		within := p.elements
		within[0].SetOne()
		factors[0] = *c
		if order == Natural {
			setPowers(within, s)
			setPowers(factors, power(s, m))
		} else {
			setReversedPowers(within, power(s, len(factors)))
			setReversedPowers(factors, s)
		}
		p.vector.Set(within)
		powers = p.vector
	}
	return InPieces(ctx, ex, d.n, func(lo, hi int) {
		for i := lo / m; i < hi/m; i++ {
			part := v.Slice(i*m, (i+1)*m)
			if !factors[i].IsOne() {
				part.Scale(&factors[i])
			}
			if powers.n > 0 {
				part.Mul(part, powers)
			}
		}
	})
}

func power(s *fr.Element, e int) *fr.Element {
	var z fr.Element
	return z.Exp(*s, big.NewInt(int64(e)))
}

// setPowers sets e[i] to e[0] s^i.
func setPowers(e []fr.Element, s *fr.Element) {
	for i := 1; i < len(e); i++ {
		e[i].Mul(&e[i-1], s)
	}
}

// setReversedPowers is setPowers with e in reversed order.
func setReversedPowers(e []fr.Element, s *fr.Element) {
	for i := len(e) / 2; i > 0; i /= 2 {
		// Places that are odd multiples of i have the bit that counts len(e) / (2i).
		for j := i; j < len(e); j += 2 * i {
			e[j].Mul(&e[j-i], s)
		}
		s = power(s, 2)
	}
}

// tables holds the roots for a domain's transforms, or for their inverses.
type tables struct {
	// Root b is exp(πi rev(b)). rev(b) is a fraction: the bits of b after the binary point, the least
	// significant first. roots has those of b below n/2, if the transform is not in lanes.
	roots fr.Vector
	rows  []uint64 // for vec52's Four: for parts of 32 elements and more
	eight []uint64 // for vec52's Eight
}

func (f *Form) inLanes(n int) bool { return f.field != nil && n >= vec52.Width*vec52.Width }

// tableBytes returns the size of the tables for one direction, in bytes.
func (f *Form) tableBytes(n int) uint64 {
	if !f.inLanes(n) {
		return uint64(n) / 2 * fr.Bytes
	}
	return 8 * uint64(n/32*f.field.RowWords()+n/64*f.field.EightWords())
}

func (f *Form) newTables(n int, inverse bool) *tables {
	// order returns the root of unity of order n.
	order := func(n int) fr.Element {
		w := Root(n)
		if inverse {
			w.Inverse(&w)
		}
		return w
	}
	if !f.inLanes(n) {
		return &tables{roots: doubled(max(1, n/2), order)}
	}
	t := &tables{rows: make([]uint64, n/32*f.field.RowWords()), eight: vec52.Resize(nil, n/64*f.field.EightWords())}
	first := f.FromElements(doubled(max(vec52.Width, n/16), order))
	for b := range n / 32 {
		f.field.SetRow(t.rows[b*f.field.RowWords():][:f.field.RowWords()], first.words, b)
	}
	// Root 2^k b + q, for q < 2^k, is the 2^k-th root of root b, times root q.
	at, roots, v := 0, f.New(n/8), f.New(n/8)
	elements := make([]fr.Element, n/8)
	for k := range 3 {
		setDoubled(elements, func(m int) fr.Element { return order(m << k) })
		roots.Set(elements)
		for _, q := range doubled(1<<k, order) {
			v.Copy(roots)
			v.Scale(&q) // the product of factors below 1.1 p is below 1.02 p
			for g := range n / 64 {
				copy(t.eight[g*f.field.EightWords()+at*f.field.Block():], v.words[g*f.field.Block():][:f.field.Block()])
			}
			at++
		}
	}
	return t
}

// doubled returns roots 0 to m-1.
func doubled(m int, order func(n int) fr.Element) []fr.Element {
	roots := make([]fr.Element, m)
	setDoubled(roots, order)
	return roots
}

// setDoubled sets roots to roots 0 and on. Each step doubles their number: the roots so far times the next root.
func setDoubled(roots []fr.Element, order func(n int) fr.Element) {
	roots[0].SetOne()
	for i := 1; i < len(roots); i *= 2 {
		w := order(4 * i)
		for j := range i {
			roots[i+j].Mul(&roots[j], &w)
		}
	}
}
