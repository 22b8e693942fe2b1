package poly

import (
	"context"
	"math/bits"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/utils"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/vec52"
)

// row is how many elements sums and inverses process side by side. Each step depends on the one before, so with
// one element at a time the processor would wait.
const row = 1 << 8

// SetPowers sets each element i of v to c·s^i.
func (v Vector) SetPowers(c, s *fr.Element) {
	m := min(v.n, row)
	if m == 0 {
		return
	}
	first := make([]fr.Element, m)
	first[0] = *c
	setPowers(first, s)
	v.Slice(0, m).Set(first)
	// Each step doubles the number of powers: those so far, times the next one.
	for i := m; i < v.n; i *= 2 {
		n := min(i, v.n-i)
		next := v.Slice(i, i+n)
		next.Copy(v.Slice(0, n))
		next.Scale(power(s, i))
	}
}

// Evaluate returns the value of a polynomial at the point s. The elements of v are its coefficients, the
// constant coefficient first.
func (v Vector) Evaluate(s *fr.Element) fr.Element {
	sum := v.form.New(min(v.n, row))
	step := power(s, row)
	for at := (v.n - 1) / row * row; v.n > 0 && at >= 0; at -= row {
		if at+row < v.n {
			sum.Scale(step)
		}
		part := v.Slice(at, min(at+row, v.n))
		low := sum.Slice(0, part.n)
		low.Add(low, part)
	}
	var value fr.Element
	for _, e := range slices.Backward(sum.Elements()) {
		value.Mul(&value, s).Add(&value, &e)
	}
	return value
}

// Sum returns the sum of all elements. It overwrites v, whose length must be a power of two.
func (v Vector) Sum() (sum fr.Element) {
	n := v.n
	for ; n > vec52.Width; n /= 2 {
		low := v.Slice(0, n/2)
		low.Add(low, v.Slice(n/2, n))
	}
	var last [vec52.Width]fr.Element
	v.Slice(0, n).Get(last[:n])
	for i := range n {
		sum.Add(&sum, &last[i])
	}
	return sum
}

// InnerProduct returns the sum, over all i, of element i of v times element i of x.
func (v Vector) InnerProduct(x Vector) fr.Element {
	v.checkOperand(x)
	m := min(v.n, row)
	sum, product := v.form.New(m), v.form.New(m)
	for at := 0; at < v.n; at += row {
		end := min(at+row, v.n)
		p, s := product.Slice(0, end-at), sum.Slice(0, end-at)
		p.Mul(v.Slice(at, end), x.Slice(at, end))
		s.Add(s, p)
	}
	var all fr.Element
	for _, e := range sum.Elements() {
		all.Add(&all, &e)
	}
	return all
}

// shortInverse is the length below which Invert processes fewer elements side by side, since it inverts the products
// of each with gnark-crypto's elements.
const shortInverse = 1 << 14

// Invert replaces each element of v by its inverse, but leaves 0 as 0. It takes three multiplications per
// element (Montgomery 1987). The parameter scratch must have v's length; Invert overwrites it.
func (v Vector) Invert(scratch Vector) {
	v.checkOperand(scratch)
	row := row
	if v.n < shortInverse {
		row = vec52.Width * vec52.Width
	}
	whole := v.n / row * row
	products := scratch.Slice(0, whole)
	if whole > 0 {
		products.Slice(0, row).Copy(v.Slice(0, row))
	}
	for at := row; at < whole; at += row {
		products.Slice(at, at+row).Mul(products.Slice(at-row, at), v.Slice(at, at+row))
	}
	if whole > row {
		last := products.Slice(whole-row, whole).Elements()
		if slices.ContainsFunc(last, func(e fr.Element) bool { return e.IsZero() }) {
			v.invertEach()
			return
		}
		inverse := v.form.FromElements(fr.BatchInvert(last))
		for at := whole - row; at > 0; at -= row {
			part := v.Slice(at, at+row)
			p := products.Slice(at, at+row)
			p.Mul(inverse, products.Slice(at-row, at))
			inverse.Mul(inverse, part)
			part.Copy(p)
		}
		v.Slice(0, row).Copy(inverse)
		v.Slice(whole, v.n).invertEach()
		return
	}
	v.invertEach()
}

// invertEach does what Invert does, on gnark-crypto's elements.
func (v Vector) invertEach() { v.Set(fr.BatchInvert(v.Elements())) }

// RunningProducts replaces each element i of v by the product of elements 0 to i. It takes two and a quarter
// multiplications per element. The parameter scratch must have v's length; RunningProducts overwrites it.
func (v Vector) RunningProducts(scratch Vector) {
	if err := v.RunningProductsOn(context.Background(), executor.Serial(), scratch); err != nil {
		panic(err) // a piece has panicked
	}
}

// RunningProductsOn does what RunningProducts does, in pieces that ex may run at once. If ctx ends it returns the
// context's cause, and the contents of v are unspecified.
func (v Vector) RunningProductsOn(ctx context.Context, ex executor.Executor, scratch Vector) error {
	v.checkOperand(scratch)
	const tile = vec52.Width * vec52.Width
	if v.form.field == nil || v.n < tile {
		e := v.Elements()
		for i := 1; i < len(e); i++ {
			e[i].Mul(&e[i], &e[i-1])
		}
		v.Set(e)
		return context.Cause(ctx)
	}
	// After Turn, each block of a tile has one element of each of the tile's eight rows.
	f := v.form.field
	block := f.Block()
	turned := scratch.words
	totals := v.form.New(v.n / tile * vec52.Width)
	whole := v.n / tile * tile
	err := InPieces(ctx, ex, whole, func(lo, hi int) {
		for g := lo / tile; g < hi/tile; g++ {
			t := turned[g*vec52.Width*block:][:vec52.Width*block]
			f.Turn(t, v.words[g*vec52.Width*block:], 1)
			at := func(i int) []uint64 { return t[reversed(i, 3)*block:][:block] }
			for i := 1; i < vec52.Width; i++ {
				f.Mul(at(i), at(i), at(i-1))
			}
			for r := range vec52.Width {
				f.CopyLane(totals.words[g*block:], r, at(vec52.Width-1), reversed(r, 3))
			}
		}
	})
	if err != nil {
		return err
	}
	if err := totals.RunningProductsOn(ctx, ex, v.form.New(totals.n)); err != nil {
		return err
	}
	one := fr.One()
	err = InPieces(ctx, ex, whole, func(lo, hi int) {
		var repeated repeated
		before := repeated.of(v.form, &one)
		for g := lo / tile; g < hi/tile; g++ {
			for r := range vec52.Width {
				if i := g*vec52.Width + r - 1; i >= 0 {
					f.CopyLane(before, reversed(r, 3), totals.words[i/vec52.Width*block:], i%vec52.Width)
				}
			}
			t := turned[g*vec52.Width*block:][:vec52.Width*block]
			f.Scale(t, before)
			f.Turn(v.words[g*vec52.Width*block:][:vec52.Width*block], t, 1)
		}
	})
	if err != nil || whole == v.n {
		return err
	}
	last := totals.Slice(totals.n-vec52.Width, totals.n).Elements()[vec52.Width-1]
	rest := v.Slice(whole, v.n)
	rest.RunningProducts(scratch.Slice(whole, v.n))
	rest.Scale(&last)
	return nil
}

// BitReverse permutes the elements of v from one Order to the other. It panics if v's length is not a power of
// two.
func (v Vector) BitReverse() {
	if err := v.BitReverseOn(context.Background(), executor.Serial()); err != nil {
		panic(err) // a piece has panicked
	}
}

// BitReverseOn does what BitReverse does, in pieces that ex may run at once. If ctx ends it returns the context's
// cause, and the contents of v are unspecified.
func (v Vector) BitReverseOn(ctx context.Context, ex executor.Executor) error {
	if v.n&(v.n-1) != 0 {
		panic("poly: bit reversal of a length that is not a power of two")
	}
	if v.form.field == nil || v.n < vec52.Width*vec52.Width {
		e := v.Elements()
		utils.BitReverse(e)
		v.Set(e)
		return context.Cause(ctx)
	}
	// With i = (a, b, c), and a and c of three bits, element (a, b, c) goes to (rev c, rev b, rev a). The
	// elements with one b are eight blocks.
	f := v.form.field
	block := f.Block()
	middle := bits.Len(uint(v.n)) - 7
	place := func(b int, tile []uint64) {
		for a := range vec52.Width {
			copy(v.words[(a<<middle|b)*block:][:block], tile[a*block:][:block])
		}
	}
	// Two b that are each other's reverse are exchanged by the task of the lower one.
	tasks := max(1, v.n/Piece)
	return ex.Do(ctx, tasks, func(_ context.Context, task int) error {
		var tiles [2][vec52.Width * len(repeated{})]uint64 // no garbage
		one, other := tiles[0][:vec52.Width*block], tiles[1][:vec52.Width*block]
		for b := task << middle / tasks; b < (task+1)<<middle/tasks; b++ {
			r := reversed(b, middle)
			if r < b {
				continue
			}
			f.Turn(one, v.words[b*block:], 1<<middle)
			f.Turn(other, v.words[r*block:], 1<<middle)
			place(r, one)
			place(b, other)
		}
		return nil
	})
}

// reversed returns the log lowest bits of i in reversed order.
func reversed(i, log int) int { return int(bits.Reverse64(uint64(i)) >> (64 - log)) }
