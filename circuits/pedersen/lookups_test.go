package pedersen

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/mimc"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	frontendcs "github.com/consensys/gnark/frontend/cs"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/internal/testing/forgery"
)

// What the forgeries of lookups are about: the hash of looked, whose first windows have the digits
// digit and next; false is what stands in the place of digit.
const (
	digit, next, other = 11, 7, 12
	looked             = digit + entries*next
)

// challenges are β and γ.
type challenges struct{ beta, gamma fr.Element }

func challengesOf(beta fr.Element) challenges {
	h := mimc.NewMiMC()
	b := beta.Bytes()
	_, _ = h.Write(b[:]) // which never fails of an element
	c := challenges{beta: beta}
	c.gamma.SetBytes(h.Sum(nil))
	return c
}

// denominator is β - γ³(table + 1) - e - γx - γ²y.
func (c *challenges) denominator(table, e int, x, y *big.Int) (d fr.Element) {
	var v, power fr.Element
	d.Set(&c.beta)
	for _, part := range []*big.Int{big.NewInt(int64(e)), x, y, big.NewInt(int64(table) + 1)} {
		if power.IsZero() {
			power.SetOne()
		} else {
			power.Mul(&power, &c.gamma)
		}
		d.Sub(&d, v.SetBigInt(part).Mul(&v, &power))
	}
	return d
}

// committed is gnark's commitment, a hash of what is committed to and absorbed, and notes β.
func committed(beta *fr.Element, absorbed func(values []*big.Int) []*big.Int) circuittest.Option {
	return solver.OverrideHint(solver.GetHintID(frontendcs.Bsb22CommitmentComputePlaceholder), func(_ *big.Int, in, out []*big.Int) error {
		h := sha256.New()
		for _, v := range absorbed(in[1:]) {
			fmt.Fprintf(h, "%x,", v)
		}
		beta.SetBytes(h.Sum(nil))
		beta.BigInt(out[0])
		return nil
	})
}

func everything(values []*big.Int) []*big.Int { return values }

// points changes the points of the first scalar, which are looked up by digit, next and others.
func points(change func(p []*big.Int)) circuittest.Option {
	return solver.OverrideHint(solver.GetHintID(Points), func(q *big.Int, in, out []*big.Int) error {
		if in[0].Sign() != 0 {
			return Points(q, in, out)
		}
		in = slices.Clone(in)
		in[1], in[2] = big.NewInt(digit), big.NewInt(next)
		if err := Points(q, in, out); err != nil {
			return err
		}
		change(out)
		for _, v := range out {
			v.Mod(v, q)
		}
		return nil
	})
}

// falsePoint looks digit up and gets the point of another digit.
func falsePoint() circuittest.Option {
	return points(func(p []*big.Int) {
		p[0].Set(tableOf(0, 0)[other].x)
		p[1].Set(tableOf(0, 0)[other].y)
	})
}

// adjusted changes the multiplicity of a row so that the sum is zero all the same.
func adjusted(of func() challenges) circuittest.Option {
	return circuittest.Change(Multiplicities, func(_, out []*big.Int) {
		c, table := of(), tableOf(0, 0)
		wrong, right := c.denominator(0, digit, table[other].x, table[other].y), c.denominator(0, digit, table[digit].x, table[digit].y)
		row := c.denominator(0, 0, table[0].x, table[0].y)
		wrong.Inverse(&wrong)
		right.Inverse(&right)
		wrong.Sub(&wrong, &right).Mul(&wrong, &row)
		out[0].Add(out[0], wrong.BigInt(new(big.Int)))
	})
}

// lookupForgeries are those of what the argument for tables states.
func lookupForgeries() map[string]circuittest.Forgery {
	x := big.NewInt(looked)
	of := func(opts ...circuittest.Option) circuittest.Forgery {
		return circuittest.Forgery{Assignment: assignment(x), Options: opts}
	}
	free := func(value func() fr.Element) circuittest.Option {
		return circuittest.Change(circuittest.Free, func(_, out []*big.Int) {
			v := value()
			v.BigInt(out[0])
		})
	}
	var beta fr.Element
	// Without its number a table is all tables.
	nextTable := of(free(func() fr.Element { return fr.Element{} }),
		points(func(p []*big.Int) {
			p[0].Set(tableOf(0, 1)[digit].x)
			p[1].Set(tableOf(0, 1)[digit].y)
		}),
		circuittest.Change(Multiplicities, func(_, out []*big.Int) {
			out[digit].Sub(out[digit], big.NewInt(1))
			out[entries+digit].Add(out[entries+digit], big.NewInt(1))
		}))
	return map[string]circuittest.Forgery{
		"prove/equal": of(falsePoint()),
		"prove/challenge": of(falsePoint(), free(func() fr.Element { return fr.NewElement(77) }),
			adjusted(func() challenges { return challengesOf(fr.NewElement(77)) })),
		// γ², of e + γx + γ²y for two points.
		"prove/product": of(falsePoint(), committed(&beta, everything), free(func() fr.Element {
			c, table := challengesOf(beta), tableOf(0, 0)
			var v, w fr.Element
			v.SetBigInt(new(big.Int).Sub(table[digit].x, table[other].x))
			w.SetBigInt(new(big.Int).Sub(table[other].y, table[digit].y))
			v.Div(&v, &w)
			return *v.Mul(&v, &c.gamma)
		})),
		"prove/product 2": nextTable,
		"prove/product 3": nextTable,
	}
}

// learner is a prover who learns the challenges from a first attempt: they are the same in the next
// if they do not depend on what is changed.
type learner struct {
	name     string
	absorbed func(values []*big.Int) []*big.Int // without what is left out
	// plan is the prover's, once the challenges are known; before, c is nil.
	plan func(c *challenges) []circuittest.Option
}

// planted reports why the attempt is refused, of the tables' circuit with its result open.
func (l *learner) planted(t *testing.T, open, whole constraint.ConstraintSystem, leftOut bool) error {
	t.Helper()
	absorbed := everything
	if leftOut {
		absorbed = l.absorbed
	}
	var beta fr.Element
	var last *big.Int
	solve := func(system constraint.ConstraintSystem, c *challenges) error {
		a := assignment(big.NewInt(looked)).(*Circuit)
		if last != nil {
			a.Last = last
		}
		opts := []solver.Option{
			solver.WithHints(append(Hints(), circuittest.Watch)...), solver.WithNbTasks(1), committed(&beta, absorbed),
			circuittest.Change(circuittest.Watch, func(in, _ []*big.Int) { last = new(big.Int).Set(in[0]) }),
		}
		return system.IsSolved(circuittest.Witness(t, a), append(opts, l.plan(c)...)...)
	}
	_ = solve(open, nil) // refused, but for its challenges
	c := challengesOf(beta)
	if err := solve(open, &c); err != nil {
		return err
	}
	return solve(whole, &c)
}

// learners are those of the values that the challenges depend on: of each query its digit, x and y,
// of the plain digits, of the multiplicities, and of all of them.
func learners() []*learner {
	n := pedersen.Windows(tableWidth)
	queries := pedersen.Inputs * (3*n + tableLimb)
	// without leaves values out by their places: of a query's three, and of plain digits, 3.
	without := func(place ...int) func(values []*big.Int) []*big.Int {
		return func(values []*big.Int) (out []*big.Int) {
			for i, v := range values[:queries] {
				at := i % (3*n + tableLimb)
				kind := at % 3
				if at >= 3*n {
					kind = 3
				}
				if !slices.Contains(place, kind) {
					out = append(out, v)
				}
			}
			return append(out, values[queries:]...)
		}
	}
	honest := func(query int, digits ...*big.Int) circuittest.Option { // for the multiplicities
		return solver.OverrideHint(solver.GetHintID(Multiplicities), func(q *big.Int, in, out []*big.Int) error {
			in = slices.Clone(in)
			for i, d := range digits {
				in[1+int(in[0].Int64())+2*(query+i)+1] = d
			}
			return Multiplicities(q, in, out)
		})
	}
	by := func(c *challenges, factor int64) *big.Int { // factor·γ
		if c == nil {
			return new(big.Int)
		}
		v := c.gamma.BigInt(new(big.Int))
		return v.Mul(v, big.NewInt(factor))
	}
	return []*learner{
		// y is false, and x makes up for it: x + γy is the row's.
		{"points absorbed", without(1, 2), func(c *challenges) []circuittest.Option {
			return []circuittest.Option{points(func(p []*big.Int) {
				y := tableOf(0, 0)[other].y
				p[0].Add(p[0], new(big.Int).Mul(by(c, 1), new(big.Int).Sub(p[1], y)))
				p[1].Set(y)
			})}
		}},
		// Two false points, and digits of the same sum that make up for both: e + γx is the row's.
		{"digits absorbed", without(0), func(c *challenges) []circuittest.Option {
			cut := cuts()[Tables]
			x := big.NewInt(looked)
			return []circuittest.Option{
				cut.digitsOf(x, x, func(out []*big.Int) {
					out[0].Sub(out[0], by(c, entries))
					out[1].Add(out[1], by(c, 1))
				}, nil),
				points(func(p []*big.Int) {
					p[0].Add(p[0], big.NewInt(entries))
					p[2].Sub(p[2], big.NewInt(1))
				}),
				honest(0, big.NewInt(digit), big.NewInt(next)),
			}
		}},
		{"plain digits absorbed", without(3), func(c *challenges) []circuittest.Option {
			counted := []*big.Int{new(big.Int), new(big.Int)} // filled before multiplicities are asked for
			first := true
			return []circuittest.Option{
				circuittest.Change(Digits, func(_, out []*big.Int) {
					if len(out) != tableLimb || !first {
						return
					}
					first = false
					counted[0].Set(out[0])
					counted[1].Set(out[1])
					if c == nil {
						out[0].Add(out[0], big.NewInt(entries))
						out[1].Sub(out[1], big.NewInt(1))
						return
					}
					// 1/(a - 128δ) + 1/(b + δ) = 1/a + 1/b.
					plain, none := pedersen.Inputs*n, new(big.Int)
					a := c.denominator(plain, int(out[0].Int64()), none, none)
					b := c.denominator(plain, int(out[1].Int64()), none, none)
					var delta, sum, v fr.Element
					wide := fr.NewElement(entries)
					v.Mul(&wide, &b)
					delta.Sub(&a, &v)
					v.SetUint64(entries-1).Mul(&v, &a).Mul(&v, &b)
					v.Div(&v, sum.Add(&a, &b))
					delta.Add(&delta, &v).Div(&delta, &wide)
					d := delta.BigInt(new(big.Int))
					out[1].Sub(out[1], d)
					out[0].Add(out[0], d.Mul(d, big.NewInt(entries)))
				}),
				honest(n, counted...),
			}
		}},
		{"multiplicities absorbed", func(values []*big.Int) []*big.Int { return values[:queries] }, func(c *challenges) []circuittest.Option {
			if c == nil {
				return []circuittest.Option{falsePoint()}
			}
			return []circuittest.Option{falsePoint(), adjusted(func() challenges { return *c })}
		}},
		// As of points, of a γ that is known before any value.
		{"β and γ of what is committed to", func([]*big.Int) []*big.Int { return nil }, func(c *challenges) []circuittest.Option {
			return []circuittest.Option{points(func(p []*big.Int) {
				y := tableOf(0, 0)[other].y
				p[0].Add(p[0], new(big.Int).Mul(by(c, 1), new(big.Int).Sub(p[1], y)))
				p[1].Set(y)
			})}
		}},
	}
}

// dropping is the circuit of a hash with tables, without the look-ups of points or of plain digits.
type dropping struct {
	Circuit
	drop func(q query) bool
}

func (c *dropping) Define(api frontend.API) error {
	t := newTabled()
	h, err := t.hash(api, [pedersen.Inputs]frontend.Variable{c.First, c.Others[0]})
	if err != nil {
		return err
	}
	api.AssertIsEqual(h, c.Last)
	api.Compiler().Defer(func(api frontend.API) error {
		all, digits := t.queries, t.digits
		t.queries, t.digits = nil, nil
		for i, q := range all {
			if !c.drop(q) {
				t.queries, t.digits = append(t.queries, q), append(t.digits, digits[i])
			}
		}
		return t.prove(api)
	})
	return nil
}

// droppings are the look-ups left out: the points' by the hash of another value, the plain digits' by
// that of x + r.
func droppings(t *testing.T) []forgery.Constraint {
	t.Helper()
	planted := func(drop func(q query) bool, first *big.Int, last fr.Element, opts ...circuittest.Option) func(leftOut bool) error {
		return func(leftOut bool) error {
			of := drop
			if !leftOut {
				of = func(query) bool { return false }
			}
			circuit := &dropping{Circuit{form: Tables, Others: make([]frontend.Variable, 1)}, of}
			system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], circuit)
			a := &dropping{Circuit: Circuit{First: first, Others: []frontend.Variable{2}, Last: last}}
			return system.IsSolved(circuittest.Witness(t, a), append([]solver.Option{solver.WithHints(Hints()...)}, opts...)...)
		}
	}
	falseHash, two := fr.NewElement(other+entries*next), fr.NewElement(2)
	few := big.NewInt(5)
	more := new(big.Int).Add(few, fr.Modulus())
	gap := func(q *big.Int, in, out []*big.Int) error { // as the lowest digit
		err := Digits(q, in, out)
		if len(out) == tableLimb && in[0].BitLen() > tableWidth*tableLimb {
			for _, v := range out[1:] {
				v.SetUint64(0)
			}
			out[0].Set(in[0])
		}
		return err
	}
	return []forgery.Constraint{
		{Name: "tables: hash/lookUp of a point", Planted: planted(func(q query) bool { return q.x != nil }, big.NewInt(looked), Tables.hash(&falseHash, &two), falsePoint())},
		{Name: "tables: hash/lookUp of a plain digit", Planted: planted(func(q query) bool { return q.x == nil }, few, hashOfInteger(t, Tables, more), cuts()[Tables].digitsOf(more, few, nil, gap))},
	}
}
