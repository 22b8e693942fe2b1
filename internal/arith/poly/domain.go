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

// TwoAdicity is the largest k for which the field has roots of unity of order 2^k.
const TwoAdicity = 28

// Order is the order of a vector over a domain.
type Order int

// The orders: element i at i, or at the number that i's bits are when read backwards.
const (
	Natural Order = iota
	BitReversed
)

// Domain is the group of n-th roots of unity, n a power of two, the powers of Root in order
// Natural, with the tables of its transforms for vectors of one form. It is safe for concurrent
// use.
type Domain struct {
	form    *Form
	n       int
	root    fr.Element
	inverse fr.Element // 1/n
	tables  [2]func() *tables
}

// NewDomain is the domain of n elements. Other than a power of two up to 2^28 is
// zkbench.ErrParams; one for whose tables there is no memory is a zkbench.ErrLimit with their
// size, before anything is allocated.
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

// Root is the root of unity of order n, a power of two up to 2^TwoAdicity, that gnark-crypto takes.
func Root(n int) fr.Element {
	root, err := fft.Generator(uint64(n))
	if err != nil {
		panic("poly: " + err.Error()) // n is at most 2^TwoAdicity
	}
	return root
}

// Size is the number of elements.
func (d *Domain) Size() int { return d.n }

// Root is the element of order n that generates the domain: gnark-crypto's.
func (d *Domain) Root() fr.Element { return d.root }

// NTT replaces the coefficients of a polynomial of degree below n by its values on the coset
// shift times the domain, shift not 0. Coefficients are in order from, values in the other one.
// The error is zkbench.ErrParams, for a vector that is not the domain's or a shift of 0, or the
// context's cause; then the vector holds nothing of use.
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

// InverseNTT is the inverse of NTT: it replaces values on the coset, in order from, by
// coefficients in the other order.
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

// chunk is how many elements a task scales; the powers for so many lie in the first cache.
const chunk = 1 << 9

// scale multiplies the coefficient of X^i by c s^i.
func (d *Domain) scale(ctx context.Context, ex executor.Executor, v Vector, order Order, c, s *fr.Element) error {
	m := min(d.n, chunk)
	factors := make([]fr.Element, d.n/m)
	var powers Vector
	switch {
	case s.IsOne() && c.IsOne():
		return nil
	case s.IsOne():
		for i := range factors {
			factors[i] = *c
		}
	default:
		within := make([]fr.Element, m)
		within[0].SetOne()
		factors[0] = *c
		if order == Natural {
			setPowers(within, s)
			setPowers(factors, power(s, m))
		} else {
			setReversedPowers(within, power(s, len(factors)))
			setReversedPowers(factors, s)
		}
		powers = d.form.Of(within)
	}
	return ex.Do(ctx, len(factors), func(_ context.Context, i int) error {
		part := v.Slice(i*m, (i+1)*m)
		if !factors[i].IsOne() {
			part.Scale(&factors[i])
		}
		if powers.n > 0 {
			part.Mul(part, powers)
		}
		return nil
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

// tables are the roots of a domain's transforms, or of their inverses.
type tables struct {
	// Root b is exp(πi rev(b)), rev(b) the bits of b behind the binary point, the least
	// significant first: these are for b below n/2, where the transform is not in lanes.
	roots fr.Vector
	rows  []uint64 // for Four, of parts of 32 elements and more
	eight []uint64 // for Eight
}

func (f *Form) inLanes(n int) bool { return f.field != nil && n >= vec52.Width*vec52.Width }

// tableBytes is the memory of the tables of one direction.
func (f *Form) tableBytes(n int) uint64 {
	if !f.inLanes(n) {
		return uint64(n) / 2 * fr.Bytes
	}
	return 8 * uint64(n/32*f.field.RowWords()+n/64*f.field.EightWords())
}

func (f *Form) newTables(n int, inverse bool) *tables {
	// order is the root of unity of that order.
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
	first := f.Of(doubled(max(vec52.Width, n/16), order))
	for b := range n / 32 {
		f.field.Row(t.rows[b*f.field.RowWords():][:f.field.RowWords()], first.words, b)
	}
	// Root 2^k b + q, q < 2^k, is the 2^k-th root of root b, times root q.
	at := 0
	for k := range 3 {
		roots := f.Of(doubled(n/8, func(m int) fr.Element { return order(m << k) }))
		for _, q := range doubled(1<<k, order) {
			v := f.New(n / 8)
			v.Copy(roots)
			v.Scale(&q) // of factors below 1.1 p it makes less than 1.02 p
			for g := range n / 64 {
				copy(t.eight[g*f.field.EightWords()+at*f.field.Block():], v.words[g*f.field.Block():][:f.field.Block()])
			}
			at++
		}
	}
	return t
}

// doubled are m roots: those that are there, times the next, are as many more.
func doubled(m int, order func(n int) fr.Element) []fr.Element {
	roots := make([]fr.Element, m)
	roots[0].SetOne()
	for i := 1; i < m; i *= 2 {
		w := order(4 * i)
		for j := range i {
			roots[i+j].Mul(&roots[j], &w)
		}
	}
	return roots
}
