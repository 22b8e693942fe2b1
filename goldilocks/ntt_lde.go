package goldilocks

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// LDE describes a low-degree extension. An extension starts from the n values of a polynomial of
// degree below n on a domain of size n. It computes the polynomial's values on a coset: the
// elements of the domain of size Blowup * n, each multiplied by Shift.
type LDE struct {
	Blowup  int     // a power of two
	Shift   Element // not 0; usually Generator
	In, Out Order   // of the values before and after
}

// Extend replaces columns by their extensions, in place. Let n be the size of d. Each column has
// length Blowup * n. Before the call, its first n elements are a polynomial's values on d; Extend
// ignores the others. Columns must not overlap.
//
// Extend returns zkbench.ErrParams if a column has another length, if Blowup is not a power of two
// or gives more than 2^32 values, or if Shift is 0 or not canonical. After any other error, for
// example if ctx is done, the contents of the columns are undefined. Each column is a task of the
// executor, and so is each coset of d within a column.
//
// A column costs Blowup + 1 transforms of length n and 2 * Blowup * n multiplications. It also
// costs one permutation if e.In is Natural, and one more if e.Out is Natural: the transforms
// themselves take and return values in reversed order.
func (d *Domain) Extend(ctx context.Context, ex executor.Executor, columns [][]Element, e LDE, on ...Kernel) error {
	if err := d.checkMade(); err != nil {
		return err
	}
	if b := e.Blowup; b < 1 || b&(b-1) != 0 || uint64(b) > (1<<TwoAdicity)/uint64(d.n) {
		return fmt.Errorf("%w: blow-up by %d, accepted are powers of two from 1 to 2^%d / %d", zkbench.ErrParams, b, TwoAdicity, d.n)
	}
	big := uint64(e.Blowup) * uint64(d.n)
	for i, c := range columns {
		if uint64(len(c)) != big {
			return fmt.Errorf("%w: columns[%d] of %d elements, accepted are %d", zkbench.ErrParams, i, len(c), big)
		}
	}
	for _, o := range []Order{e.In, e.Out} {
		if err := checkOrder(o); err != nil {
			return err
		}
	}
	if err := checkShift(e.Shift); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil || len(columns) == 0 {
		return err
	}
	k := chosen(on)
	// In reversed order, values from n t on are on the coset of shifts[t].
	shifts := make([]Element, e.Blowup)
	setReversedPowers(shifts, e.Shift, rootOf(len(columns[0])))
	return ex.Do(ctx, len(columns), func(ctx context.Context, i int) error {
		c := columns[i]
		values := c[:d.n]
		if e.In == Natural {
			reverseBitOrder(values)
		}
		d.interpolate(k, values, BitReversed)
		coset := func(t int) {
			v := c[t*d.n:][:d.n]
			k.scale(v, values, Natural, d.inverse, shifts[t])
			d.transform(k, v, Natural)
		}
		// The coefficients are in the place of the first coset's values, so that coset is last.
		err := ex.Do(ctx, e.Blowup-1, func(_ context.Context, t int) error {
			coset(t + 1)
			return nil
		})
		if err != nil {
			return err
		}
		coset(0)
		if e.Out == Natural {
			reverseBitOrder(c)
		}
		return nil
	})
}
