package plonkish

import (
	"context"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/poly"
)

// The quotient is computed on parts of a coset. A part has few enough points that the columns of the identity
// fit in the second-level cache. It has at least a sixteenth of all, so that few levels split a coset.
const partPoints, maxParts = 1 << 14, 16

// partSize returns the number of points of a part.
func (l *layout) partSize() int { return min(l.n, max(partPoints, l.n/maxParts)) }

// partCount returns the number of parts of a coset.
func (l *layout) partCount() int { return l.n / l.partSize() }

// A column is held in one of two forms: as coefficients, or by the parts of a coset. By parts, part i has the polynomial
// modulo X^m - c, where m is the part's length and c is the power m of its shift; coefficient k is multiplied by power k
// of the part's shift only when the part is evaluated. Coset 0 is the domain, whose points are the rows.
const coefficients = -1

// shift returns the shift of part i of a coset, as a coset of the small domain.
func (l *layout) shift(coset, i int) fr.Element {
	shift, step := label(coset), power(l.root, i)
	return *shift.Mul(&shift, &step)
}

// inPart returns what a column has of part i. Part i has the points ω^i of all, which in reversed order are
// neighbours.
func (l *layout) inPart(column []fr.Element, i int) []fr.Element {
	size, log := l.partSize(), bits.Len(uint(l.partCount()))-1
	at := int(bits.Reverse64(uint64(i))>>1>>(63-log)) * size
	return column[at : at+size]
}

// setRows sets values from row lo on, which a multiple of the number of parts must be, in a column by parts. Within a
// part, the values have natural order.
func (l *layout) setRows(column, values []fr.Element, lo int) {
	var buffer [maxParts][]fr.Element
	parts := buffer[:l.partCount()]
	for i := range parts {
		parts[i] = l.inPart(column, i)[lo/len(parts):]
	}
	for k := 0; len(values) > 0; k++ {
		for i, part := range parts {
			part[k] = values[i]
		}
		values = values[len(parts):]
	}
}

// leadingOfRows returns the coefficient of X^(n-1) of a column by the parts of the domain.
func (l *layout) leadingOfRows(column []fr.Element) (top fr.Element) {
	count := l.partCount()
	root, w := poly.Root(count), fr.One()
	for i := range count { // root^-i(count-1) is root^i
		part := l.inPart(column, i)
		var e fr.Element
		top.Add(&top, e.Mul(&part[len(part)-1], &w))
		w.Mul(&w, &root)
	}
	n := fr.NewElement(uint64(count))
	return *top.Div(&top, &n)
}

// evaluateOnPart sets dst to the values on a part of a coset of the polynomial that turn leaves for that part.
// powers holds the powers of the part's shift.
func (k *ProvingKey) evaluateOnPart(ctx context.Context, ex executor.Executor, dst poly.Vector, coefficients []fr.Element, powers poly.Vector) error {
	one := fr.One()
	err := poly.InPieces(ctx, ex, dst.Len(), func(lo, hi int) {
		part := dst.Slice(lo, hi)
		part.Set(coefficients[lo:hi])
		part.Mul(part, powers.Slice(lo, hi))
	})
	if err != nil {
		return err
	}
	return k.part.NTT(ctx, ex, dst, poly.Natural, &one)
}

// turner moves columns between cosets. It keeps working memory.
type turner struct {
	*ProvingKey
	parts spare[poly.Vector]
	rows  spare[[]poly.Vector]
	lists spare[[]fr.Element]
}

func (k *ProvingKey) newTurner() *turner {
	return &turner{
		k,
		spare[poly.Vector]{made: func() poly.Vector { return k.form.New(k.part.Size()) }},
		spare[[]poly.Vector]{made: func() []poly.Vector {
			rows := make([]poly.Vector, k.partCount()+1) // the last is scratch
			for i := range rows {
				rows[i] = k.form.New(min(k.part.Size(), tile))
			}
			return rows
		}},
		spare[[]fr.Element]{made: func() []fr.Element { return make([]fr.Element, min(k.n, poly.Piece)) }},
	}
}

// interpolate replaces the values on a coset, multiplied by factor, by the polynomial by parts. The values are in
// reversed order, or if they are those of rows, as setRows sets them.
func (k *turner) interpolate(ctx context.Context, ex executor.Executor, column []fr.Element, coset int, factor fr.Element) error {
	return ex.Do(ctx, k.partCount(), func(ctx context.Context, i int) error {
		part, v, shift := k.inPart(column, i), k.parts.take(), k.shift(coset, i)
		defer k.parts.give(v)
		if err := v.SetOn(ctx, ex, part); err != nil {
			return err
		}
		if coset == 0 {
			if err := v.BitReverseOn(ctx, ex); err != nil {
				return err
			}
		}
		if err := k.part.InverseNTT(ctx, ex, v, poly.BitReversed, &shift); err != nil {
			return err
		}
		if !factor.IsOne() {
			if err := v.ScaleOn(ctx, ex, &factor); err != nil {
				return err
			}
		}
		return v.GetOn(ctx, ex, part)
	})
}

// makeFixed sets dst to a column that the circuit decides, by the parts of the domain.
func (k *turner) makeFixed(ctx context.Context, ex executor.Executor, dst []fr.Element, v variable, labels *labels) error {
	err := poly.InPieces(ctx, ex, k.n, func(lo, _ int) {
		values := k.lists.take()
		defer k.lists.give(values)
		k.structure.fill(values, v, lo, labels)
		k.setRows(dst, values, lo)
	})
	if err != nil {
		return err
	}
	return k.interpolate(ctx, ex, dst, 0, fr.One())
}

// turn takes a column from one coset to another, in place. In each part, the column has a polynomial that is a value,
// at the part's c, of a polynomial in X^m. The c of a coset are a power of its shift, times the roots of unity. So a
// transform across the parts leads to the coefficients, and another one back.
func (k *turner) turn(ctx context.Context, ex executor.Executor, column []fr.Element, from, to int) error {
	size, parts := k.part.Size(), k.partCount()
	if parts == 1 || from == to {
		return nil
	}
	factors := make([]fr.Element, parts) // of what becomes, or was, the coefficients of X^m
	ratio := fr.One()
	factors[0].SetOne()
	if from != coefficients {
		factors[0].SetUint64(uint64(parts)).Inverse(&factors[0])
		ratio.Inverse(ptr(power(label(from), size)))
	}
	if to != coefficients {
		ratio.Mul(&ratio, ptr(power(label(to), size)))
	}
	for i := range factors[1:] {
		factors[i+1].Mul(&factors[i], &ratio)
	}
	step := min(size, tile) // a piece has as many elements of each part, or more
	forward, back := poly.Root(parts), poly.Root(parts)
	back.Inverse(&back)
	return poly.InPieces(ctx, ex, k.n, func(lo, hi int) {
		r := k.rows.take()
		defer k.rows.give(r)
		for lo, hi = lo/parts, hi/parts; lo < hi; lo += step {
			for i := range parts {
				r[i].Set(column[i*size+lo : i*size+lo+step])
			}
			if from != coefficients {
				acrossFromReversed(r, back)
			}
			for i := range factors {
				if !factors[i].IsOne() {
					r[i].Scale(&factors[i])
				}
			}
			if to != coefficients {
				acrossToReversed(r, forward)
			}
			for i := range parts {
				r[i].Get(column[i*size+lo : i*size+lo+step])
			}
		}
	})
}

// acrossToReversed transforms the elements that rows have at one index, for all indices, from natural to reversed
// order. The last row is scratch. root has the order of the number of the others.
func acrossToReversed(rows []poly.Vector, root fr.Element) {
	n := len(rows) - 1
	for half := n / 2; half > 0; half /= 2 {
		w := fr.One()
		for j := range half {
			for at := j; at < n; at += 2 * half {
				u, v := rows[at], rows[at+half]
				difference := rows[n]
				difference.Sub(u, v)
				u.Add(u, v)
				if j > 0 {
					difference.Scale(&w)
				}
				rows[at+half], rows[n] = difference, v
			}
			w.Mul(&w, &root)
		}
		root.Square(&root)
	}
}

// acrossFromReversed goes back, and multiplies by the number of rows. root is the inverse of the other's.
func acrossFromReversed(rows []poly.Vector, root fr.Element) {
	n := len(rows) - 1
	for half := 1; half < n; half *= 2 {
		step, w := power(root, n/(2*half)), fr.One()
		for j := range half {
			for at := j; at < n; at += 2 * half {
				u, v := rows[at], rows[at+half]
				if j > 0 {
					v.Scale(&w)
				}
				difference := rows[n]
				difference.Sub(u, v)
				u.Add(u, v)
				rows[at+half], rows[n] = difference, v
			}
			w.Mul(&w, &step)
		}
	}
}
