package stark

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/arith/step"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

// inRow is the algebra of a program's values in a row.
type inRow[E field.Element[E], X field.Extension[E, X]] struct {
	field      field.Field[E, X]
	publics    []E
	fixed      []E
	here, next []E
}

func (a inRow[E, X]) Constant(c air.Int) (e E) {
	if c.Negative {
		return e.Sub(a.field.New(c.Abs))
	}
	return a.field.New(c.Abs)
}
func (a inRow[E, X]) Fixed(i int) E  { return a.fixed[i] }
func (a inRow[E, X]) Here(i int) E   { return a.here[i] }
func (a inRow[E, X]) Next(i int) E   { return a.next[i] }
func (a inRow[E, X]) Public(i int) E { return a.publics[i] }
func (a inRow[E, X]) Add(x, y E) E   { return x.Add(y) }
func (a inRow[E, X]) Sub(x, y E) E   { return x.Sub(y) }
func (a inRow[E, X]) Mul(x, y E) E   { return x.Mul(y) }

// Sizes of what randomTable states.
const (
	lowerColumns = 5
	lowerFixed   = 2
	lowerPublics = 3
)

// randomTable states expressions that share parts: sums, differences, products, exclusive ors, a and not b,
// and numbers packed from bits. Packed numbers have more bits than one pass takes, constant bits, or end with
// a part of another number. What is stated is also part of later expressions.
func randomTable(random *rand.Rand) *air.Table {
	return &air.Table{Name: "random", Columns: lowerColumns, Fixed: slices.Repeat([][]uint64{{0, 0}}, lowerFixed), State: func(b *air.Builder) {
		pool := []air.Expr{{}, air.Constant(1), air.Constant(2), air.Constant(-1), air.Element(random.Uint64())}
		for i := range lowerColumns {
			pool = append(pool, b.Here(i), b.Next(i))
		}
		for i := range lowerFixed {
			pool = append(pool, b.Fixed(i))
		}
		for i := range lowerPublics {
			pool = append(pool, b.Public(i))
		}
		near := random.IntN(2) == 0 // a table of long chains, or a broad one
		pick := func() air.Expr {
			if near && random.IntN(2) == 0 {
				return pool[len(pool)-1-random.IntN(min(len(pool), 4))]
			}
			return pool[random.IntN(len(pool))]
		}
		often := air.Where(random.IntN(4)) // so that there are sums before all is computed
		state := func(e air.Expr) {
			for range 1 + random.IntN(5)/4 { // a step may be stated twice
				where := often
				if random.IntN(4) == 0 {
					where = air.Where(random.IntN(4))
				}
				b.Zero(where, "random", e)
			}
		}
		b.Answer("bus", pick(), pick(), pick())
		for range 1 + random.IntN(250) {
			x, y := pick(), pick()
			var e air.Expr
			switch random.IntN(9) {
			case 0:
				e = x.Add(y)
			case 1:
				e = x.Sub(y)
			case 2:
				e = x.Mul(y)
			case 3:
				e = x.Xor(y)
			case 4: // the same, of parts that others may read, in another order
				double := y.Mul(x).Times(2 + int64(random.IntN(4)/3)) // or three times
				pool = append(pool, x.Add(y), double)
				e = x.Add(y).Sub(double)
			case 5:
				e = x.Mul(air.Constant(1).Sub(y))
			case 6:
				e = b.Public(0).Sub(y).Mul(x) // Public(0) may be 1
			default:
				var parts []air.Expr
				e = x
				for range random.IntN(40) {
					e = e.Add(e).Add(pick())
					parts = append(parts, e, e.Add(e))
				}
				if len(parts) > 0 && random.IntN(2) == 0 {
					part := parts[random.IntN(len(parts))]
					if pool = append(pool, part); random.IntN(2) == 0 {
						state(part)
					}
				}
			}
			if pool = append(pool, e); random.IntN(3) > 0 {
				state(e)
			}
			if random.IntN(16) == 0 {
				b.Answer("bus", pick(), e, pick())
			}
		}
	}}
}

// TestLower: what a machine computes of a random table is, row by row, what the program says: of each
// constraint at the time when it is summed, and of messages at the end.
func TestLower(t *testing.T) {
	t.Parallel()
	t.Run("goldilocks", func(t *testing.T) { checkLower[goldilocks.Element, ext.Quadratic](t, field.Goldilocks2) })
	t.Run("koalabear", func(t *testing.T) { checkLower[koalabear.Element, koalabear.Quartic](t, field.KoalaBear4) })
}

func checkLower[E field.Element[E], X field.Extension[E, X]](t *testing.T, f field.Field[E, X]) {
	t.Helper()
	t.Parallel()
	var seen [step.Ops]bool
	var after [thenSummed + 1]bool
	for seed := range testsize.Pick(50, 100, 20_000) {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		p := must.Get(randomTable(random).Compile())(t)
		element := func() E {
			if random.IntN(2) == 0 {
				return f.New([]uint64{0, 1, 2, f.Order() - 1}[random.IntN(4)])
			}
			return f.New(random.Uint64N(f.Order()))
		}
		rows := 2 << random.IntN(5)
		columns := [phases][][]E{ofColumns: make([][]E, lowerColumns), ofFixed: make([][]E, lowerFixed)}
		for _, of := range columns {
			for c := range of {
				for range rows {
					of[c] = append(of[c], element())
				}
			}
		}
		var publics []E
		for range lowerPublics {
			publics = append(publics, element())
		}
		row := func(phase, i int) (cells []E) {
			for _, c := range columns[phase] {
				cells = append(cells, c[i])
			}
			return cells
		}
		want := make([][]E, len(p.Steps)) // of each step its values
		for i := range rows {
			a := inRow[E, X]{f, publics, row(ofFixed, i), row(ofColumns, i), row(ofColumns, (i+1)%rows)}
			for step, e := range air.Evaluate[E](p, a) {
				want[step] = append(want[step], e)
			}
		}
		steps := messageSteps(p)
		for _, constraints := range []bool{true, false} {
			code := lower[E, X](f, p, ofFixed, constraints, steps)
			for _, p := range code.passes {
				for _, s := range p.steps {
					seen[s.Op] = true
				}
				after[p.then] = true
			}
			m := newMachine[E, X](f, &memory[E]{kept: new(kept[E])}, code, publics, rows)
			var summed []int
			m.run(func(phase, i int) []E { return columns[phase][i] }, rows, 1, 0, func(w air.Where, bounds []int, values [][]E) {
				for i, b := range bounds {
					bound := p.Constraints[b]
					if !slices.Equal(want[bound.Step], values[i]) || bound.Where != w {
						t.Errorf("table %d, constraint %d, %v, summed %v: %v, want %v", seed, b, bound.Where, w, values[i], want[bound.Step])
					}
				}
				summed = append(summed, bounds...)
			})
			for _, step := range steps {
				if got := m.value(step); !slices.Equal(want[step], got) {
					t.Errorf("table %d, step %d of a message: %v, want %v", seed, step, got, want[step])
				}
			}
			slices.Sort(summed)
			all := []int(nil)
			for i := range p.Constraints {
				if constraints {
					all = append(all, i)
				}
			}
			golden.Equal(t, fmt.Sprintf("table %d: constraints that are summed", seed), all, summed)
		}
	}
	for op, used := range seen {
		golden.Equal(t, fmt.Sprintf("operation %d is used", op), true, used)
	}
	for then, used := range after {
		golden.Equal(t, fmt.Sprintf("what follows steps is once %d", then), true, used)
	}
}
