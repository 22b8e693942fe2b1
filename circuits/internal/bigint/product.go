package bigint

import (
	"math/big"

	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/gate"
)

// comparable reports whether CRT can compare a·b with an element. Both sides must be so small that their
// difference is below 2^272 times the circuit's prime. The side with the quotient may be twice as large as
// the other, and c more.
func (f *Field) comparable(a, b *Int) bool {
	most := new(big.Int).Mul(join(a.most), join(b.most))
	return most.BitLen() <= Limbs*Width+f.api.Compiler().FieldBitLen()-4
}

// assertProduct asserts that a·b is c modulo p. It compares the integers a·b + k·p and c + q·p, for a
// quotient q that the prover supplies and a constant k so large that q is not negative.
func (f *Field) assertProduct(a, b, c *Int) {
	k := new(big.Int).Add(join(c.most), f.p)
	k.Sub(k, big.NewInt(1)).Div(k, f.p)
	kp := split(new(big.Int).Mul(k, f.p), Limbs)
	most := new(big.Int).Mul(join(a.most), join(b.most))
	most.Add(most, join(kp)).Div(most, f.p)
	bits := max(most.BitLen(), 1)
	raw := f.hint(Quotient, (bits+Width-1)/Width, f.constants(), a.limbs, b.limbs, c.limbs, []frontend.Variable{k})
	q := f.ranged(raw, bits)

	f.assertColumns(f.columns(a, b, c, q, kp))
	if f.method == CRT {
		left := f.api.Add(f.api.Mul(f.nativeOf(a), f.nativeOf(b)), join(kp))
		f.api.AssertIsEqual(left, f.api.Add(f.api.Mul(f.nativeOf(q), f.p), f.nativeOf(c)))
	}
}

// nativeOf returns the integer of an element modulo the circuit's prime.
func (f *Field) nativeOf(a *Int) frontend.Variable {
	if a.native == nil {
		terms := make([]frontend.Variable, len(a.limbs))
		for i, l := range a.limbs {
			terms[i] = f.api.Mul(l, shift(Width*i))
		}
		a.native = gate.Sum(f.api, terms)
	}
	return a.native
}

// column is a sum of products and linear terms. As an integer it is between -below and above.
type column struct {
	terms        []frontend.Variable
	above, below *big.Int
}

// columns returns the columns of a·b + kp - c - q·p that are compared.
func (f *Field) columns(a, b, c, q *Int, kp []*big.Int) []column {
	n := 2*Limbs - 1
	if m := len(q.limbs) + Limbs - 1; m > n {
		n = m
	}
	if f.method == CRT {
		n = Limbs
	}
	out := make([]column, n)
	for k := range out {
		s := column{above: new(big.Int), below: new(big.Int)}
		for i := range min(k+1, Limbs) {
			if j := k - i; j < Limbs {
				s.terms = append(s.terms, f.api.Mul(a.limbs[i], b.limbs[j]))
				s.above.Add(s.above, new(big.Int).Mul(a.most[i], b.most[j]))
			}
		}
		for i := range min(k+1, len(q.limbs)) {
			if j := k - i; j < Limbs {
				s.terms = append(s.terms, f.api.Mul(q.limbs[i], new(big.Int).Neg(f.limbs[j])))
				s.below.Add(s.below, new(big.Int).Mul(q.most[i], f.limbs[j]))
			}
		}
		if k < Limbs {
			s.terms = append(s.terms, kp[k], f.api.Neg(c.limbs[k]))
			s.above.Add(s.above, kp[k])
			s.below.Add(s.below, c.most[k])
		}
		out[k] = s
	}
	return out
}

// assertColumns asserts that the integer of the columns is zero or, with CRT, a multiple of 2^272. The rest
// of a group of columns is carried to the next group. A group is smaller than the circuit's prime, so if the
// carry is in its range, the carry times 2^136 equals the group as an integer.
func (f *Field) assertColumns(columns []column) {
	var carry frontend.Variable = 0
	above, below := new(big.Int), new(big.Int) // of the carry
	inverse := new(big.Int).ModInverse(shift(grouped*Width), f.api.Compiler().Field())
	for at := 0; at < len(columns); at += grouped {
		terms := []frontend.Variable{carry}
		for i, s := range columns[at:min(at+grouped, len(columns))] {
			by := shift(Width * i)
			for _, t := range s.terms {
				terms = append(terms, f.api.Mul(t, by))
			}
			above.Add(above, new(big.Int).Mul(s.above, by))
			below.Add(below, new(big.Int).Mul(s.below, by))
		}
		group := gate.Sum(f.api, terms)
		if at+grouped >= len(columns) && f.method != CRT {
			f.api.AssertIsEqual(group, 0)
			return
		}
		above.Rsh(above, grouped*Width)
		below.Add(below.Rsh(below, grouped*Width), big.NewInt(1))
		carry = f.api.Mul(group, inverse)
		f.inRange(f.api.Add(carry, below), new(big.Int).Add(above, below).BitLen())
	}
}
