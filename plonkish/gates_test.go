package plonkish

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/grumpkin"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// multiple is k times Grumpkin's generator.
func multiple(k int64) (p grumpkin.G1Affine) {
	_, g := grumpkin.Generators()
	for i := k; i != 0; i -= sign(k) {
		if k > 0 {
			p.Add(&p, &g)
		} else {
			p.Sub(&p, &g)
		}
	}
	return p
}

func sign(k int64) int64 {
	if k < 0 {
		return -1
	}
	return 1
}

func coordinates(p grumpkin.G1Affine) (x, y fr.Element) { return fr.Element(p.X), fr.Element(p.Y) }

func (b *Builder) point(p grumpkin.G1Affine) []Var {
	x, y := coordinates(p)
	return []Var{b.Var(x), b.Var(y)}
}

// ranged accumulates digits of base 4.
func ranged(b *Builder, digits []int64) {
	kind := b.Kind(Range())
	var acc int64
	row := []Var{b.Public(element(0))}
	for _, d := range digits {
		acc = 4*acc + d
		if row = append(row, b.Var(element(acc))); len(row) == 4 {
			b.Row(kind, row)
			row = nil
		}
	}
	b.Row(0, row)
}

// anded and xored accumulate both operands and the result.
func logical(b *Builder, gate *Gate, x, y []int64) {
	zero := b.Public(element(0))
	var sx, sy, sz int64
	row := []Var{zero, zero, 0, zero}
	for i := range x {
		z := x[i] & y[i]
		if gate.equal(Xor()) {
			z = x[i] ^ y[i]
		}
		row[2] = b.Var(element(x[i] * y[i]))
		b.Row(b.Kind(gate), row)
		sx, sy, sz = 4*sx+x[i], 4*sy+y[i], 4*sz+z
		row = []Var{b.Var(element(sx)), b.Var(element(sy)), 0, b.Var(element(sz))}
	}
	b.Row(0, row)
}

// climbed adds digits' multiples of 5 times a point to another.
func climbed(b *Builder, digits []int64) {
	p, sum, acc := LadderParams(multiple(5), multiple(15)), int64(100), int64(0)
	kind := b.Kind(Ladder(), p[:]...)
	state := append(b.point(multiple(sum)), b.Public(element(0)))
	for _, d := range digits {
		x, _ := coordinates(multiple(5 * d))
		b.Row(kind, []Var{state[0], state[1], b.Var(x), state[2]})
		sum, acc = sum+5*d, 4*acc+d
		state = append(b.point(multiple(sum)), b.Var(element(acc)))
	}
	b.Row(0, []Var{state[0], state[1], 0, state[2]})
}

// turbos are circuits of each gate of TurboPlonk.
func turbos(r *rand.Rand, digits int) map[string]func(b *Builder) {
	base4, odd := make([][]int64, 2), make([]int64, digits)
	for i := range base4 {
		for range digits {
			base4[i] = append(base4[i], r.Int64N(4))
		}
	}
	for i := range odd {
		odd[i] = 2*r.Int64N(4) - 3
	}
	k := 2 + r.Int64N(20)
	return map[string]func(b *Builder){
		Arithmetic4().Name: func(b *Builder) {
			w := []int64{r.Int64N(9), r.Int64N(9), r.Int64N(9), r.Int64N(9)}
			q := []int64{3, 1, 4, 1, 5}
			c := -q[0] * w[0] * w[1]
			params := []fr.Element{element(q[0])}
			var row []Var
			for i := range w {
				c -= q[i+1] * w[i]
				params, row = append(params, element(q[i+1])), append(row, b.Var(element(w[i])))
			}
			b.Row(b.Kind(Arithmetic4(), append(params, element(c))...), row)
		},
		Range().Name:  func(b *Builder) { ranged(b, base4[0]) },
		And().Name:    func(b *Builder) { logical(b, And(), base4[0], base4[1]) },
		Xor().Name:    func(b *Builder) { logical(b, Xor(), base4[0], base4[1]) },
		Ladder().Name: func(b *Builder) { climbed(b, odd) },
		PointAdd().Name: func(b *Builder) {
			b.Row(b.Kind(PointAdd()), append(b.point(multiple(k)), b.point(multiple(-1))...))
			b.Row(0, b.point(multiple(k-1)))
		},
		PointDouble().Name: func(b *Builder) {
			b.Row(b.Kind(PointDouble()), b.point(multiple(k)))
			b.Row(0, b.point(multiple(2*k)))
		},
	}
}

// windowed is a circuit of UltraPlonk: a scalar's digits of two bits, the lowest first, the
// multiples that a table has of them, and their sum.
func windowed(b *Builder, digits []int64) {
	t := &Table{"multiples", make([][]fr.Element, 3)}
	for d := range int64(4) {
		x, y := coordinates(multiple(d + 1))
		for i, e := range []fr.Element{element(d), x, y} {
			t.Columns[i] = append(t.Columns[i], e)
		}
	}
	params := make([]fr.Element, 8)
	params[7] = element(4)
	kind := b.LookUp(b.Kind(Window(), params...), 0, t)
	// What is left of the scalar, the lowest digit first; the last row has none.
	rest, sum := int64(0), int64(50)
	for _, d := range slices.Backward(digits) {
		rest = 4*rest + d
	}
	scalar, state := b.Public(element(rest)), b.point(multiple(sum))
	for _, d := range digits {
		x, y := coordinates(multiple(d + 1))
		b.Row(kind, []Var{scalar, state[0], state[1], b.Var(x)}, y)
		rest, sum = rest/4, sum+d+1
		scalar, state = b.Var(element(rest)), b.point(multiple(sum))
	}
	b.Equal(scalar, b.Public(element(0)))
	b.Row(0, []Var{scalar, state[0], state[1]})
}

// TestDegrees: the quotient of each arithmetization, all gates in use, is of as many pieces as the
// permutation's own is.
func TestDegrees(t *testing.T) {
	all := func(n int) []bool { return slices.Repeat([]bool{true}, n) }
	for want, a := range map[int]Arithmetization{3: Plonk(), 4: TurboPlonk()} {
		l := newLayout(&a, 64, uses{gates: all(len(a.Gates)), selectors: all(len(a.Gates)), params: all(a.Params)})
		if l.pieces != want {
			t.Errorf("%s: %d pieces, want %d", a.Name, l.pieces, want)
		}
	}
	s := UltraPlonk()
	l := newLayout(&s, 64, uses{gates: all(2), selectors: all(2), params: all(10), lookups: all(1), width: 3})
	if l.pieces != 4 {
		t.Errorf("ultra: %d pieces, want 4", l.pieces)
	}
}

// TestGates: of each gate random rows are accepted, and each cell that it reads changed is not.
func TestGates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		for gate, rows := range turbos(r, 8) {
			b := NewBuilder(TurboPlonk())
			rows(b)
			c := must.Get(b.Build())(t)
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			for row := range c.Rows() {
				for column := range 4 {
					if !c.tied(column, row) {
						continue
					}
					bad := c.withValues(func(c *Circuit) {
						e := c.cell(column, row)
						c.setCell(column, row, *e.Add(&e, ptr(element(1+r.Int64N(1000)))))
					})
					if bad.Check() == nil {
						t.Errorf("%s: row %d, column %d changed", gate, row, column)
					}
				}
			}
		}
	}
}

// accepts tells whether rows of a kind and an empty last one, with these cells, satisfy a gate.
func accepts(t *testing.T, g *Gate, params []fr.Element, now, next [4]fr.Element) bool {
	b := NewBuilder(TurboPlonk())
	vars := func(cells [4]fr.Element) (all []Var) {
		for _, e := range cells {
			all = append(all, b.Var(e))
		}
		return all
	}
	b.Row(b.Kind(g, params...), vars(now))
	b.Row(0, vars(next))
	return must.Get(b.Build())(t).Check() == nil
}

// TestLogicIsTrue: of all digits, results and products the gates of logic take the right ones.
func TestLogicIsTrue(t *testing.T) {
	for g, of := range map[*Gate]func(x, y int64) int64{And(): func(x, y int64) int64 { return x & y }, Xor(): func(x, y int64) int64 { return x ^ y }} {
		for i := range int64(6 * 6 * 6 * 3) {
			x, y, z := i%6-1, i/6%6-1, i/36%6-1
			product := x*y + i/216 - 1
			digits := 0 <= x && x < 4 && 0 <= y && y < 4
			want := digits && z == of(x, y) && product == x*y
			got := accepts(t, g, nil, [4]fr.Element{2: element(product)}, [4]fr.Element{element(x), element(y), {}, element(z)})
			if got != want {
				t.Errorf("%s of %d and %d is %d, product %d: accepted is %v", g.Name, x, y, z, product, got)
			}
		}
	}
}

// line is where the line through two points of the plane meets the curve again, mirrored; it does not
// ask whether they are on the curve, and nor do the gates.
func line(x, y, xa, ya fr.Element) (xq, yq fr.Element) {
	var slope, run fr.Element
	slope.Sub(&ya, &y)
	slope.Div(&slope, run.Sub(&xa, &x))
	xq.Square(&slope).Sub(&xq, &x).Sub(&xq, &xa)
	return xq, onLine(x, y, slope, xq)
}

// onLine is the y of a sum whose x is told.
func onLine(x, y, slope, xq fr.Element) (yq fr.Element) {
	yq.Sub(&x, &xq).Mul(&yq, &slope)
	return *yq.Sub(&yq, &y)
}

// TestLadderTakesItsDigits: a digit is -3, -1, 1 or 3, whatever multiple goes with it.
func TestLadderTakesItsDigits(t *testing.T) {
	p := LadderParams(multiple(5), multiple(15))
	x, y := coordinates(multiple(100))
	for d := int64(-9); d <= 9; d++ {
		digit := element(d)
		var xa, ya fr.Element
		xa.Square(&digit).Mul(&xa, &p[0]).Add(&xa, &p[1])
		ya.Mul(&xa, &p[2]).Add(&ya, &p[3]).Mul(&ya, &digit)
		xq, yq := line(x, y, xa, ya)
		// The gate has the curve's equation for A: where A is not on it, its terms have another x.
		var off, square, run fr.Element
		off.Square(&ya)
		square.Square(&xa).Mul(&square, &xa)
		b := element(curveB)
		square.Add(&square, &b)
		off.Sub(&square, &off)
		run.Sub(&xa, &x).Square(&run)
		off.Div(&off, &run)
		if xq.Add(&xq, &off); !off.IsZero() {
			var slope fr.Element
			slope.Sub(&ya, &y)
			slope.Div(&slope, run.Sub(&xa, &x))
			yq = onLine(x, y, slope, xq)
		}
		want := d == -3 || d == -1 || d == 1 || d == 3
		if got := accepts(t, Ladder(), p[:], [4]fr.Element{x, y, xa, {}}, [4]fr.Element{xq, yq, {}, digit}); got != want {
			t.Errorf("digit %d: accepted is %v", d, got)
		}
	}
}

// TestSumsAreOneOfAKind: a sum and a double have the one x, though the y that goes with another
// satisfies the other term, and the one y.
func TestSumsAreOneOfAKind(t *testing.T) {
	for k := int64(2); k < 6; k++ {
		x, y := coordinates(multiple(k))
		for q := int64(1); q < 14; q++ {
			xq, _ := coordinates(multiple(q))
			var slope, run fr.Element // of the tangent
			slope.Square(&x)
			three := element(3)
			slope.Mul(&slope, &three)
			slope.Div(&slope, run.Double(&y))
			yq := onLine(x, y, slope, xq)
			if got := accepts(t, PointDouble(), nil, [4]fr.Element{x, y}, [4]fr.Element{xq, yq}); got != (q == 2*k) {
				t.Errorf("twice %d is %d: accepted is %v", k, q, got)
			}
			if q == 2*k && accepts(t, PointDouble(), nil, [4]fr.Element{x, y}, [4]fr.Element{xq, *yq.Neg(&yq)}) {
				t.Errorf("twice %d is -%d", k, q)
			}
			if q == k {
				continue
			}
			xa, ya := coordinates(multiple(q))
			slope.Sub(&ya, &y)
			slope.Div(&slope, run.Sub(&xa, &x))
			for sum := int64(1); sum < 20; sum++ {
				xs, _ := coordinates(multiple(sum))
				ys := onLine(x, y, slope, xs)
				if got := accepts(t, PointAdd(), nil, [4]fr.Element{x, y, xa, ya}, [4]fr.Element{xs, ys}); got != (sum == k+q) {
					t.Errorf("%d and %d is %d: accepted is %v", k, q, sum, got)
				}
				if sum == k+q && accepts(t, PointAdd(), nil, [4]fr.Element{x, y, xa, ya}, [4]fr.Element{xs, *ys.Neg(&ys)}) {
					t.Errorf("%d and %d is -%d", k, q, sum)
				}
			}
		}
	}
}
