// Package bigint computes modulo a prime that is not the circuit's own, on limbs of 68 bits.
//
// To check a product, the code checks that x·y = q·p + c, where c is the result and q a quotient. It does
// this by one of two methods. Schoolbook compares the columns of limbs as integers, with carries, and checks
// all ranges bit by bit. CRT compares both sides modulo 2^272, for which the lower columns suffice, and also
// modulo the circuit's own prime. It checks ranges by lookups in a table. Both comparisons together show that
// the integers are equal, because their difference is less than the product of both moduli (Williamson,
// "Non-native field arithmetic with Turbo-PLONK", 2020).
//
// Additions do not reduce: an element records how large its limbs may be.
package bigint

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/rangecheck"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/internal/gate"
)

const (
	// Limbs is the number of limbs of an element. The lowest limb comes first.
	Limbs = 4
	// Width is the number of bits of each limb of a product. Limbs of a sum can be wider.
	Width = 68

	// widest is the number of bits that a limb may reach before it is reduced. A column
	// and its neighbour, 2^68 times as large, stay below 2^250 then: below the circuit's
	// prime, with room for a carry.
	widest = 88
	// grouped is the number of columns that are compared together.
	grouped = 2
)

// Method selects how a product is checked.
type Method int

// The methods of checking products, which the package comment describes.
const (
	Schoolbook Method = iota
	CRT
)

// Field is arithmetic modulo p in one circuit. Its methods do not return errors; Err returns the first
// error.
type Field struct {
	api     frontend.API
	p       *big.Int
	limbs   []*big.Int // of p
	method  Method
	checker frontend.Rangechecker // of CRT
	err     error
}

// Int is an integer modulo p, the modulus of its Field. Its limbs form an integer that may be larger than p
// but is congruent to the Int modulo p. An upper bound of each limb is known.
type Int struct {
	limbs  []frontend.Variable
	most   []*big.Int
	native frontend.Variable // the integer modulo the circuit's prime; nil: not computed
}

// New returns the arithmetic modulo p in the circuit of api. It returns zkbench.ErrParams if p is not between
// 2^204 and 2^256, if the method is unknown, or if the circuit's prime does not have 253 to 256 bits.
func New(api frontend.API, p *big.Int, method Method) (*Field, error) {
	if n := p.BitLen(); p.Sign() < 0 || n <= (Limbs-1)*Width || n > 256 {
		return nil, fmt.Errorf("%w: modulus of %d bits, sign %d; accepted: above 0, %d to 256 bits", zkbench.ErrParams, n, p.Sign(), (Limbs-1)*Width+1)
	}
	if method != Schoolbook && method != CRT {
		return nil, fmt.Errorf("%w: method %d; accepted: Schoolbook, CRT", zkbench.ErrParams, method)
	}
	if n := api.Compiler().FieldBitLen(); n < 253 || n > 256 {
		return nil, fmt.Errorf("%w: circuit over a prime of %d bits; accepted: 253 to 256", zkbench.ErrParams, n)
	}
	f := &Field{api: api, p: p, limbs: split(p, Limbs), method: method}
	if method == CRT {
		f.checker = rangecheck.New(api)
	}
	return f, nil
}

// Err returns the first error of all calls so far.
func (f *Field) Err() error { return f.err }

func (f *Field) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// split returns n limbs of v >= 0; the last one takes all that is left.
func split(v *big.Int, n int) []*big.Int {
	out := make([]*big.Int, n)
	rest := new(big.Int).Set(v)
	for i := range n - 1 {
		out[i] = new(big.Int).And(rest, mask(Width))
		rest.Rsh(rest, Width)
	}
	out[n-1] = rest
	return out
}

// join returns the integer of limbs, which may exceed their width.
func join(limbs []*big.Int) *big.Int {
	v := new(big.Int)
	for i := len(limbs) - 1; i >= 0; i-- {
		v.Lsh(v, Width).Add(v, limbs[i])
	}
	return v
}

// mask returns 2^n - 1.
func mask(n int) *big.Int { return new(big.Int).Sub(shift(n), big.NewInt(1)) }

func shift(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }

// Constant returns the element v, for 0 <= v < p.
func (f *Field) Constant(v *big.Int) *Int {
	if v.Sign() < 0 || v.Cmp(f.p) >= 0 {
		f.fail(fmt.Errorf("%w: constant of %d bits, sign %d; accepted: 0 and above, below the modulus", zkbench.ErrParams, v.BitLen(), v.Sign()))
	}
	e := &Int{most: split(v, Limbs)}
	for _, l := range e.most {
		e.limbs = append(e.limbs, l)
	}
	return e
}

// FromLimbs returns the element with the given limbs. It asserts that each limb has at most Width bits, and
// that the integer with these limbs has at most as many bits as the modulus.
func (f *Field) FromLimbs(limbs [Limbs]frontend.Variable) *Int {
	return f.ranged(limbs[:], f.p.BitLen())
}

// Split returns the limbs of v, the lowest first. Field.FromLimbs takes such limbs if v is from 0 to p - 1,
// where p is the modulus of the Field.
func Split(v *big.Int) (out [Limbs]frontend.Variable) {
	for i, l := range split(v, Limbs) {
		out[i] = l
	}
	return out
}

// ranged returns the element with the given limbs, and asserts that it is an integer below 2^bits.
func (f *Field) ranged(limbs []frontend.Variable, bits int) *Int {
	e := &Int{limbs: limbs}
	for _, l := range limbs {
		n := min(bits, Width)
		f.inRange(l, n)
		e.most = append(e.most, mask(n))
		bits -= n
	}
	return e
}

// inRange asserts that v is below 2^n.
func (f *Field) inRange(v frontend.Variable, n int) {
	if f.method == CRT {
		f.checker.Check(v, n)
		return
	}
	if _, err := gate.AssertBits(f.api, v, n); err != nil {
		f.fail(err)
	}
}

// hint returns n limbs that a hint computes.
func (f *Field) hint(h solver.Hint, n int, inputs ...[]frontend.Variable) []frontend.Variable {
	var all []frontend.Variable
	for _, in := range inputs {
		all = append(all, in...)
	}
	out, err := f.api.Compiler().NewHint(h, n, all...)
	if err != nil {
		f.fail(err)
		out = make([]frontend.Variable, n)
		for i := range out {
			out[i] = 0
		}
	}
	return out
}

// Add returns a + b.
func (f *Field) Add(a, b *Int) *Int {
	sum := &Int{}
	for i := range Limbs {
		sum.limbs = append(sum.limbs, f.api.Add(a.limbs[i], b.limbs[i]))
		sum.most = append(sum.most, new(big.Int).Add(a.most[i], b.most[i]))
	}
	return f.narrow(sum)
}

// Sub returns a - b.
func (f *Field) Sub(a, b *Int) *Int {
	// A multiple of p whose limbs are not below b's.
	rest := new(big.Int).Mod(new(big.Int).Neg(join(b.most)), f.p)
	diff := &Int{}
	for i, l := range split(rest, Limbs) {
		pad := l.Add(l, b.most[i])
		diff.limbs = append(diff.limbs, f.api.Sub(f.api.Add(a.limbs[i], pad), b.limbs[i]))
		diff.most = append(diff.most, new(big.Int).Add(a.most[i], pad))
	}
	return f.narrow(diff)
}

// Neg returns -a.
func (f *Field) Neg(a *Int) *Int { return f.Sub(f.Constant(new(big.Int)), a) }

// Scale returns c·a, for c >= 0.
func (f *Field) Scale(a *Int, c int64) *Int {
	if c < 0 {
		f.fail(fmt.Errorf("%w: factor %d; accepted: 0 and above", zkbench.ErrParams, c))
	}
	out, by := &Int{}, big.NewInt(c)
	for i := range Limbs {
		out.limbs = append(out.limbs, f.api.Mul(a.limbs[i], by))
		out.most = append(out.most, new(big.Int).Mul(a.most[i], by))
	}
	return f.narrow(out)
}

// Select returns a if bit is 1, and b if it is 0.
func (f *Field) Select(bit frontend.Variable, a, b *Int) *Int {
	out := &Int{}
	for i := range Limbs {
		out.limbs = append(out.limbs, f.api.Select(bit, a.limbs[i], b.limbs[i]))
		most := a.most[i]
		if most.Cmp(b.most[i]) < 0 {
			most = b.most[i]
		}
		out.most = append(out.most, most)
	}
	return out
}

// narrow reduces an element with a limb that is too wide.
func (f *Field) narrow(a *Int) *Int {
	for _, m := range a.most {
		if m.BitLen() > widest {
			return f.reduce(a)
		}
	}
	return a
}

// reduce returns the same residue with limbs of their width. The factor is 1, so limbs
// may be wider than those of products.
func (f *Field) reduce(a *Int) *Int { return f.product(a, f.Constant(big.NewInt(1))) }

// Mul returns a·b.
func (f *Field) Mul(a, b *Int) *Int {
	if f.method == CRT {
		for !f.comparable(a, b) {
			if join(a.most).Cmp(join(b.most)) < 0 {
				a, b = b, a
			}
			a = f.reduce(a)
		}
	}
	return f.product(a, b)
}

// product does the work of Mul for operands that can be compared.
func (f *Field) product(a, b *Int) *Int {
	c := f.ranged(f.hint(Residue, Limbs, f.constants(), a.limbs, b.limbs), f.p.BitLen())
	f.assertProduct(a, b, c)
	return c
}

// Div returns a/b. If b is 0 and a is not, no assignment satisfies the circuit. If both are 0, a prover
// can choose any element as the result.
func (f *Field) Div(a, b *Int) *Int {
	d := f.ranged(f.hint(Ratio, Limbs, f.constants(), a.limbs, b.limbs), f.p.BitLen())
	if f.method == CRT && !f.comparable(d, b) {
		b = f.reduce(b)
	}
	f.assertProduct(d, b, a)
	return d
}

// AssertEqual asserts that a and b are equal modulo p.
func (f *Field) AssertEqual(a, b *Int) {
	zero, one := big.NewInt(0), big.NewInt(1)
	f.assertProduct(f.Sub(a, b), f.Constant(one), f.Constant(zero))
}

func (f *Field) constants() []frontend.Variable {
	out := make([]frontend.Variable, Limbs)
	for i, l := range f.limbs {
		out[i] = l
	}
	return out
}

// Hints returns the hint functions that a solver needs for circuits that use this package.
func Hints() []solver.Hint { return append(gate.Hints(), Residue, Ratio, Quotient) }

// operands takes the modulus and n elements off a hint's inputs.
func operands(inputs []*big.Int, n int) (p *big.Int, of []*big.Int, rest []*big.Int, err error) {
	if len(inputs) < (1+n)*Limbs {
		return nil, nil, nil, fmt.Errorf("%d inputs for %d elements", len(inputs), n)
	}
	for i := range n {
		of = append(of, join(inputs[(1+i)*Limbs:(2+i)*Limbs]))
	}
	return join(inputs[:Limbs]), of, inputs[(1+n)*Limbs:], nil
}

func put(outputs []*big.Int, v *big.Int) {
	for i, l := range split(v, len(outputs)) {
		outputs[i].Set(l)
	}
}

// Residue computes the hint for a product. The hint is a·b mod p. The hint's inputs are p, a and b.
func Residue(_ *big.Int, inputs, outputs []*big.Int) error {
	p, of, _, err := operands(inputs, 2)
	if err != nil {
		return err
	}
	put(outputs, new(big.Int).Mod(new(big.Int).Mul(of[0], of[1]), p))
	return nil
}

// Ratio computes the hint for a division. The hint is a/b mod p, or 0 if b is 0. The hint's inputs are p, a
// and b.
func Ratio(_ *big.Int, inputs, outputs []*big.Int) error {
	p, of, _, err := operands(inputs, 2)
	if err != nil {
		return err
	}
	d := new(big.Int).ModInverse(new(big.Int).Mod(of[1], p), p)
	if d == nil {
		d = new(big.Int)
	}
	put(outputs, d.Mul(d, of[0]).Mod(d, p))
	return nil
}

// Quotient computes the hint for the check that a·b is c modulo p. The hint's inputs are p, a, b, c and a
// factor k. The hint is (a·b + k·p - c)/p, rounded down.
func Quotient(_ *big.Int, inputs, outputs []*big.Int) error {
	p, of, rest, err := operands(inputs, 3)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return fmt.Errorf("%d inputs for 3 elements and a factor", len(inputs))
	}
	q := new(big.Int).Mul(of[0], of[1])
	q.Add(q, new(big.Int).Mul(rest[0], p)).Sub(q, of[2])
	put(outputs, q.Div(q, p))
	return nil
}
