package air

import (
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// f7 is the algebra of the field of seven elements, in one row.
type f7 struct {
	here, next    [2]int
	fixed, public int
}

func (a f7) Constant(c Int) int {
	v := int(c.Abs % 7)
	if c.Negative {
		v = (7 - v) % 7
	}
	return v
}
func (a f7) Fixed(int) int    { return a.fixed }
func (a f7) Here(i int) int   { return a.here[i] }
func (a f7) Next(i int) int   { return a.next[i] }
func (a f7) Public(int) int   { return a.public }
func (a f7) Add(x, y int) int { return (x + y) % 7 }
func (a f7) Sub(x, y int) int { return (x + 7 - y) % 7 }
func (a f7) Mul(x, y int) int { return x * y % 7 }

// TestBits asks by expressions that are drawn, and goes through all rows of a field of seven elements: those that satisfy
// the constraints ask once, or not.
func TestBits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	believed := 0
	for n := range testsize.Pick(300, 3000, 30_000) {
		var when []Expr
		fixed := [][]uint64{{uint64(r.IntN(3) % 2), uint64(r.IntN(3))}}
		tb := &Table{Name: "t", Columns: 2, Fixed: fixed, State: func(b *Builder) {
			pool := []Expr{{}, Constant(1), Constant(-1), Constant(2), b.Here(0), b.Here(1), b.Next(0), b.Fixed(0), b.Public(0)}
			pick := func() Expr { return pool[r.IntN(len(pool))] }
			for range 6 {
				x, y := pick(), pick()
				switch r.IntN(5) {
				case 0:
					pool = append(pool, x.Add(y))
				case 1:
					pool = append(pool, x.Sub(y))
				case 2:
					pool = append(pool, x.Mul(y))
				case 3:
					pool = append(pool, Constant(1).Sub(x))
				case 4:
					pool = append(pool, x.Mul(Constant(1).Sub(pick())))
				}
			}
			for range 3 {
				e := pick()
				if r.IntN(2) == 0 {
					e = e.Bool()
				}
				b.Zero(Where(r.IntN(4)), "", e)
			}
			for range 2 {
				w := pick()
				when = append(when, w)
				b.Ask("x", w, b.Here(0))
			}
		}}
		p := must.Get(tb.Compile())(t)
		believed += 2 - (len(p.Constraints) - 3)
		for _, fx := range fixed[0] {
			for i := range 7 * 7 * 7 * 7 {
				a := f7{here: [2]int{i % 7, i / 7 % 7}, next: [2]int{i / 49 % 7}, fixed: int(fx), public: i / 343}
				v := Evaluate[int](p, a)
				ok := true
				for _, c := range p.Constraints {
					ok = ok && (c.Where != Everywhere || v[c.Step] == 0)
				}
				if !ok {
					continue
				}
				for _, m := range p.Messages {
					if w := v[m.Multiplicity]; w != 0 && w != 6 {
						t.Fatalf("%d: multiplicity %d: %+v %+v", n, w, a, p)
					}
				}
			}
		}
	}
	golden.Within(t, "asks that were taken for bits", 100, believed, 1<<20)
}
