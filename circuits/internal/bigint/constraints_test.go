package bigint

import (
	"errors"
	"math/big"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/internal/gate"
	"github.com/zkbench/zkbench/internal/testing/forgery"
)

// one is an operation on A and B, whose limbs are taken to be in range, with the limbs of its result.
type one struct {
	A, B   inputs
	Result inputs `gnark:",public"`
	method Method
	do     func(f *Field, a, b *Int) *Int // nil: there is no result
}

// given is the element of limbs that nothing is shown of, scaled by 2^scale.
func given(api frontend.API, limbs inputs, scale int) *Int {
	e := &Int{}
	bits := 254
	for _, l := range limbs {
		n := min(bits, Width)
		e.limbs = append(e.limbs, api.Mul(l, shift(scale)))
		e.most = append(e.most, new(big.Int).Lsh(mask(n), uint(scale)))
		bits -= n
	}
	return e
}

func (c *one) Define(api frontend.API) error {
	f, err := New(api, ecc.BN254.BaseField(), c.method)
	if err != nil {
		return err
	}
	if out := c.do(f, given(api, c.A, 0), given(api, c.B, 0)); out != nil {
		for i := range Limbs {
			api.AssertIsEqual(out.limbs[i], c.Result[i])
		}
	}
	return f.Err()
}

// The numbers that are multiplied, divided and compared.
func numbers() (p, r, a, b *big.Int) {
	p = ecc.BN254.BaseField()
	return p, ecc.BN254.ScalarField(), new(big.Int).Exp(big.NewInt(3), big.NewInt(1001), p), new(big.Int).Exp(big.NewInt(5), big.NewInt(1001), p)
}

func one4(a, b, result *big.Int) *one {
	return &one{A: Split(a), B: Split(b), Result: Split(result)}
}

// gives has a hint give limbs.
func gives(h solver.Hint, limbs ...*big.Int) circuittest.Option {
	return circuittest.Change(h, func(_, out []*big.Int) {
		for i := range out {
			out[i].SetUint64(0)
			if i < len(limbs) {
				out[i].Set(limbs[i])
			}
		}
	})
}

// quotientWith has the prover give the quotient of a·b + k·p + m - c: both sides are equal modulo m.
func quotientWith(m *big.Int) circuittest.Option {
	return solver.OverrideHint(solver.GetHintID(Quotient), func(_ *big.Int, in, out []*big.Int) error { return quotientBy(m, in, out) })
}

func quotientBy(m *big.Int, in, out []*big.Int) error {
	p, of, rest, err := operands(in, 3)
	if err != nil {
		return err
	}
	q := new(big.Int).Mul(of[0], of[1])
	q.Add(q, new(big.Int).Mul(rest[0], p)).Add(q, m).Sub(q, of[2])
	put(out, q.Div(q, p))
	return nil
}

// noBits gives values that are out of range bits of which the lowest is none.
func noBits() circuittest.Option {
	return circuittest.Change(gate.Bits, func(in, out []*big.Int) {
		v := new(big.Int).Set(in[0])
		for i := range out {
			v.SetBit(v, i, 0)
		}
		out[0].Add(out[0], v)
	})
}

// sides are the groups of columns of x·y + k·p - z - q·p, and their sum modulo r: what is zero where
// no carry is, or with CRT the lower columns' and the sum.
func sides(method Method, x, y, z, q []*big.Int, k *big.Int) []*big.Int {
	p, r, _, _ := numbers()
	limbs, kp := split(p, Limbs), split(new(big.Int).Mul(k, p), Limbs)
	columns := make([]*big.Int, 2*Limbs)
	for i := range columns {
		columns[i] = new(big.Int)
	}
	sum := new(big.Int)
	add := func(i int, a, b *big.Int, sign int64) {
		v := new(big.Int).Mul(a, b)
		v.Mul(v, big.NewInt(sign))
		columns[i].Add(columns[i], v)
		sum.Add(sum, v.Lsh(v, uint(Width*i)))
	}
	unit := big.NewInt(1)
	for i := range Limbs {
		for j := range Limbs {
			add(i+j, x[i], y[j], 1)
			add(i+j, q[i], limbs[j], -1)
		}
		add(i, kp[i], unit, 1)
		add(i, z[i], unit, -1)
	}
	n := 2 * Limbs
	if method == CRT {
		n = Limbs
	}
	var out []*big.Int
	for i := 0; i < n; i += grouped {
		out = append(out, new(big.Int).Add(columns[i], new(big.Int).Lsh(columns[i+1], Width)))
	}
	if method == CRT {
		out = append(out, sum)
	}
	for _, v := range out {
		v.Mod(v, r)
	}
	return out
}

// solved returns limbs, any numbers modulo r, for which all of sides are zero.
func solved(sides func(limbs []*big.Int) []*big.Int) []*big.Int {
	unknown := func(at int) []*big.Int {
		u := make([]*big.Int, Limbs)
		for i := range u {
			u[i] = new(big.Int)
		}
		if at >= 0 {
			u[at].SetUint64(1)
		}
		return u
	}
	constant := sides(unknown(-1))
	rows := make([][]fr.Element, len(constant)) // a row of coefficients and the constant, negated
	for i := range rows {
		rows[i] = make([]fr.Element, Limbs+1)
		rows[i][Limbs].SetBigInt(constant[i]).Neg(&rows[i][Limbs])
	}
	for at := range Limbs {
		for i, v := range sides(unknown(at)) {
			rows[i][at].SetBigInt(v.Sub(v, constant[i]))
		}
	}
	pivots := make([]int, 0, len(rows))
	for at := 0; at < Limbs && len(pivots) < len(rows); at++ {
		n := len(pivots)
		with := slices.IndexFunc(rows[n:], func(row []fr.Element) bool { return !row[at].IsZero() })
		if with < 0 {
			continue
		}
		rows[n], rows[n+with] = rows[n+with], rows[n]
		var inverse, v fr.Element
		inverse.Inverse(&rows[n][at])
		for k := range rows[n] {
			rows[n][k].Mul(&rows[n][k], &inverse)
		}
		for i := range rows {
			factor := rows[i][at]
			for k := range rows[i] {
				if i != n {
					rows[i][k].Sub(&rows[i][k], v.Mul(&factor, &rows[n][k]))
				}
			}
		}
		pivots = append(pivots, at)
	}
	out := unknown(-1)
	for i, at := range pivots {
		rows[i][Limbs].BigInt(out[at])
	}
	return out
}

// forged are the forgeries of a product that is compared. by is the hint of its result, and with
// returns the result with which both sides differ by m.
type forged struct {
	method Method
	path   string
	by     solver.Hint
	with   func(m *big.Int) *big.Int
	// loose are limbs of a result that are out of range, and the quotient's.
	loose func() (result []*big.Int, quotient circuittest.Option)
	// tight returns the limbs of the quotient for a result.
	tight func(result *big.Int) []*big.Int
}

func (f *forged) forgeries() map[string]circuittest.Forgery {
	_, r, a, b := numbers()
	differing := func(m *big.Int, opts ...circuittest.Option) circuittest.Forgery {
		result := f.with(m)
		return circuittest.Forgery{Assignment: one4(a, b, result), Options: append(opts, gives(f.by, split(result, Limbs)...), quotientWith(m))}
	}
	result, quotient := f.loose()
	loose := func(opts ...circuittest.Option) circuittest.Forgery {
		x := one4(a, b, new(big.Int))
		for i, l := range result {
			x.Result[i] = l
		}
		return circuittest.Forgery{Assignment: x, Options: append(opts, gives(f.by, result...), quotient)}
	}
	tight := func(opts ...circuittest.Option) circuittest.Forgery {
		wrong := new(big.Int).Xor(f.with(new(big.Int)), big.NewInt(1))
		return circuittest.Forgery{Assignment: one4(a, b, wrong), Options: append(opts, gives(f.by, split(wrong, Limbs)...), gives(Quotient, f.tight(wrong)...))}
	}
	compared := f.path + "assertProduct/"
	if f.method == CRT {
		return map[string]circuittest.Forgery{
			f.path + "ranged/inRange/range":          loose(),
			compared + "ranged/inRange/range":        tight(),
			compared + "assertColumns/inRange/range": differing(r),
			compared + "equal":                       differing(shift(Limbs * Width)),
			compared + "assertColumns/product":       differing(r, circuittest.Change(circuittest.Free, func(_, out []*big.Int) { out[0].SetUint64(0) })),
		}
	}
	return map[string]circuittest.Forgery{
		f.path + "ranged/inRange/AssertBits/boolean":          loose(noBits()),
		f.path + "ranged/inRange/AssertBits/equal":            loose(),
		compared + "ranged/inRange/AssertBits/boolean":        tight(noBits()),
		compared + "ranged/inRange/AssertBits/equal":          tight(),
		compared + "assertColumns/inRange/AssertBits/boolean": differing(r, noBits()),
		compared + "assertColumns/inRange/AssertBits/equal":   differing(r),
		// All columns but the last group's.
		compared + "assertColumns/equal": differing(shift(3 * grouped * Width)),
	}
}

// ofMul are the forgeries of a product.
func ofMul(method Method) *forged {
	p, r, a, b := numbers()
	k := big.NewInt(2) // 2p is above 2^254
	return &forged{
		method: method, path: "Mul/product/", by: Residue,
		with: func(m *big.Int) *big.Int {
			v := new(big.Int).Mul(a, b)
			return v.Add(v, m).Mod(v, p)
		},
		// One more in a limb, and as much less in the next, modulo r.
		loose: func() ([]*big.Int, circuittest.Option) {
			c := new(big.Int).Mul(a, b)
			quotient, c := c.DivMod(c, p, new(big.Int))
			limbs := split(c, Limbs)
			limbs[0].Add(limbs[0], big.NewInt(1))
			limbs[1].Sub(limbs[1], new(big.Int).ModInverse(shift(Width), r)).Mod(limbs[1], r)
			return limbs, gives(Quotient, split(new(big.Int).Add(quotient, k), Limbs)...)
		},
		tight: func(c *big.Int) []*big.Int {
			return solved(func(q []*big.Int) []*big.Int {
				return sides(method, split(a, Limbs), split(b, Limbs), split(c, Limbs), q, k)
			})
		},
	}
}

// ofDiv are the forgeries of a quotient.
func ofDiv(method Method) *forged {
	p, _, a, b := numbers()
	k := big.NewInt(2)
	return &forged{
		method: method, path: "Div/", by: Ratio,
		with: func(m *big.Int) *big.Int {
			v := new(big.Int).Sub(a, m)
			return v.Mul(v, new(big.Int).ModInverse(b, p)).Mod(v, p)
		},
		loose: func() ([]*big.Int, circuittest.Option) {
			q := split(big.NewInt(5), Limbs)
			return solved(func(d []*big.Int) []*big.Int { return sides(method, d, split(b, Limbs), split(a, Limbs), q, k) }), gives(Quotient, q...)
		},
		tight: func(d *big.Int) []*big.Int {
			return solved(func(q []*big.Int) []*big.Int {
				return sides(method, split(d, Limbs), split(b, Limbs), split(a, Limbs), q, k)
			})
		},
	}
}

// wide multiplies A, scaled by 2^scale, and B, with or without what keeps operands small.
func wide(scale int, small func(f *Field, a *Int) *Int, mul func(f *Field, a, b *Int) *Int) func(f *Field, a, b *Int) *Int {
	return func(f *Field, a, b *Int) *Int {
		scaled := given(f.api, inputs(a.limbs), scale)
		return mul(f, small(f, scaled), b)
	}
}

// operandForgeries are the products of operands that are too large to be compared: limbs of which a
// group of columns reaches the circuit's prime, and integers whose products reach 2^272 times it.
func operandForgeries(t *testing.T, method Method, what string, scale int, m *big.Int, kept, left func(f *Field, a, b *Int) *Int) forgery.Constraint {
	t.Helper()
	p, _, _, _ := numbers()
	top := new(big.Int).Sub(shift(254), big.NewInt(1))
	result := new(big.Int).Lsh(new(big.Int).Mul(top, top), uint(scale))
	result.Add(result, m).Mod(result, p)
	unit := func(in []*big.Int) bool { return join(in[2*Limbs:3*Limbs]).Cmp(big.NewInt(1)) == 0 } // a reduction
	return forgery.Constraint{Name: what, Planted: func(leftOut bool) error {
		do := kept
		if leftOut {
			do = left
		}
		var errs error
		for _, build := range circuittest.Builders() {
			system := circuittest.Compile(t, build, &one{method: method, do: do})
			err := system.IsSolved(circuittest.Witness(t, one4(top, top, result)), solver.WithHints(Hints()...),
				circuittest.Change(Residue, func(in, out []*big.Int) {
					if !unit(in) {
						put(out, result)
					}
				}),
				solver.OverrideHint(solver.GetHintID(Quotient), func(q *big.Int, in, out []*big.Int) error {
					if unit(in) {
						return Quotient(q, in, out)
					}
					return quotientBy(m, in, out)
				}))
			if err == nil && !leftOut {
				return nil
			}
			errs = errors.Join(errs, err)
		}
		return errs
	}}
}

// TestConstraints holds each statement of a product, a quotient, a reduction and a comparison by a
// forgery: limbs out of range, or a result that is false by what is not compared.
func TestConstraints(t *testing.T) {
	p, r, a, b := numbers()
	var all []forgery.Constraint
	for name, method := range methods {
		add := func(what string, do func(f *Field, a, b *Int) *Int, honest *one, forgeries map[string]circuittest.Forgery, calls ...string) {
			m := circuittest.Matrix{
				Name: name + ", " + what, Circuit: &one{method: method, do: do}, Honest: honest, Hints: Hints(), Calls: calls, Forgeries: forgeries,
			}
			all = append(all, m.Constraints(t)...)
		}
		product, quotient := ofMul(method), ofDiv(method)
		add("mul", (*Field).Mul, one4(a, b, product.with(new(big.Int))), product.forgeries())
		add("div", (*Field).Div, one4(a, b, quotient.with(new(big.Int))), quotient.forgeries())

		// What compares, reduces and takes limbs is left out as a whole.
		other := new(big.Int).Xor(a, big.NewInt(1))
		add("equal", func(f *Field, a, b *Int) *Int {
			f.AssertEqual(a, b)
			return nil
		}, one4(new(big.Int).Add(b, p), b, new(big.Int)), map[string]circuittest.Forgery{
			"AssertEqual": {Assignment: one4(a, b, new(big.Int))},
		}, "AssertEqual")
		const scale = widest - Width + 1
		scaled := new(big.Int).Lsh(a, scale)
		add("scale", func(f *Field, a, _ *Int) *Int { return f.Scale(a, 1<<scale) }, one4(a, b, scaled.Mod(scaled, p)), map[string]circuittest.Forgery{
			"Scale/narrow/reduce": {Assignment: one4(a, b, other), Options: []circuittest.Option{gives(Residue, split(other, Limbs)...)}},
		}, "Scale/narrow/reduce")
		outside := map[string]circuittest.Forgery{"FromLimbs/ranged/inRange/range": {Assignment: one4(new(big.Int).Sub(shift(255), big.NewInt(1)), b, new(big.Int))}}
		if method == Schoolbook {
			f := outside["FromLimbs/ranged/inRange/range"]
			outside = map[string]circuittest.Forgery{
				"FromLimbs/ranged/inRange/AssertBits/equal":   f,
				"FromLimbs/ranged/inRange/AssertBits/boolean": {Assignment: f.Assignment, Options: []circuittest.Option{noBits()}},
			}
		}
		add("limbs", func(f *Field, a, _ *Int) *Int {
			f.FromLimbs(inputs(a.limbs))
			return nil
		}, one4(a, b, new(big.Int)), outside)

		all = append(all, operandForgeries(t, method, name+": narrow", 52, new(big.Int).Neg(r),
			wide(52, (*Field).narrow, (*Field).Mul), wide(52, func(_ *Field, a *Int) *Int { return a }, (*Field).product)))
	}
	as := func(_ *Field, a *Int) *Int { return a }
	all = append(all, operandForgeries(t, CRT, "crt: comparable", 20, new(big.Int).Mul(shift(Limbs*Width), r), wide(20, as, (*Field).Mul), wide(20, as, (*Field).product)))
	forgery.Check(t, "circuits/internal/bigint", all)
}
