package air

import (
	"fmt"
	"slices"
)

// Program is what a table states, as straight-line code: each step a value of values before it.
// Equal parts are one step.
type Program struct {
	Columns     int
	Fixed       int // how many fixed columns there are
	Steps       []Step
	Constraints []Bound
	Messages    []Sent
	Publics     int // how many public values it reads
}

// Step is one value.
type Step struct {
	Op    Op
	X, Y  int // numbers of steps, of Add, Sub and Mul
	Index int // of a column, a fixed one or a public value
	Value Int // of a constant
}

// Bound is a constraint: the step that is 0.
type Bound struct {
	Constraint
	Step int
}

// Sent is a message: the steps of its multiplicity and tuple. The multiplicity of an answer is positive,
// that of an ask negative.
type Sent struct {
	Bus          string
	Multiplicity int
	Tuple        []int
	Asks         uint64 // how often a row asks at most; 0 of an answer
	Link         int    // the fixed column that is the multiplicity, plus 1; 0 if there is none
}

func compile(b *Builder, fixed [][]uint64) *Program {
	p := &Program{Columns: b.columns, Fixed: b.fixed}
	known, numbers := make(map[*node]int), make(map[Step]int)
	var number func(n *node) int
	number = func(n *node) int {
		if n == nil {
			n = &node{op: Const}
		} else if i, ok := known[n]; ok {
			return i
		}
		s := Step{Op: n.op, Index: n.index, Value: n.value}
		if n.op >= Add {
			s.X, s.Y = number(n.x), number(n.y)
			if n.op != Sub && s.X > s.Y {
				s.X, s.Y = s.Y, s.X
			}
		}
		i, ok := numbers[s]
		if !ok {
			i = len(p.Steps)
			p.Steps, numbers[s] = append(p.Steps, s), i
		}
		if n.op == Public {
			p.Publics = max(p.Publics, n.index+1)
		}
		known[n] = i
		return i
	}
	for _, c := range b.constraints {
		step := number(c.zero.node)
		c.zero = Expr{} // of which the steps are all that is needed
		p.Constraints = append(p.Constraints, Bound{c, step})
	}
	for _, m := range b.messages {
		number(m.multiplicity.node)
	}
	bits := p.bits(fixed)
	for _, m := range b.messages {
		if when := number(m.multiplicity.node); m.kind == asksOnce && !bits[when] {
			bits[when] = true
			c := Constraint{Name: fmt.Sprintf("asks %q once at most", m.Bus), Where: Everywhere}
			p.Constraints = append(p.Constraints, Bound{c, number(m.multiplicity.Bool().node)})
		}
	}
	for _, m := range b.messages {
		multiplicity := m.multiplicity
		if m.kind == asks || m.kind == asksOnce {
			multiplicity = multiplicity.negative()
		}
		s := Sent{Bus: m.Bus, Multiplicity: number(multiplicity.node), Asks: m.most}
		if m.kind == links {
			s.Link = 1 + m.multiplicity.index
		}
		for _, e := range m.tuple {
			s.Tuple = append(s.Tuple, number(e.node))
		}
		p.Messages = append(p.Messages, s)
	}
	return p
}

// bits tells of each step whether it is 0 or 1 in every row by what it is, or by a constraint: 0, 1, a fixed
// column of such, what a constraint says of it, 1 less a bit, and the product of two.
func (p *Program) bits(fixed [][]uint64) []bool {
	stated := make([]bool, len(p.Steps))
	for _, c := range p.Constraints {
		zero := p.Steps[c.Step]
		if c.Where != Everywhere || zero.Op != Mul {
			continue
		}
		for _, pair := range [][2]int{{zero.X, zero.Y}, {zero.Y, zero.X}} {
			rest := p.Steps[pair[1]] // 1 - x
			stated[pair[0]] = stated[pair[0]] || rest.Op == Sub && p.isOne(rest.X) && rest.Y == pair[0]
		}
	}
	bits := make([]bool, len(p.Steps))
	for i, s := range p.Steps {
		switch s.Op {
		case Const:
			bits[i] = s.Value == Int{} || p.isOne(i)
		case Fixed:
			bits[i] = !slices.ContainsFunc(fixed[s.Index], func(v uint64) bool { return v > 1 })
		case Mul:
			bits[i] = bits[s.X] && bits[s.Y]
		case Sub:
			bits[i] = p.isOne(s.X) && bits[s.Y]
		}
		bits[i] = bits[i] || stated[i]
	}
	return bits
}

func (p *Program) isOne(step int) bool {
	return p.Steps[step].Op == Const && p.Steps[step].Value == Int{Abs: 1}
}

// Algebra is where a program is evaluated.
type Algebra[T any] interface {
	Constant(c Int) T
	Fixed(i int) T
	Here(column int) T
	Next(column int) T
	Public(i int) T
	Add(x, y T) T
	Sub(x, y T) T
	Mul(x, y T) T
}

// Evaluate returns the value of each step.
func Evaluate[T any](p *Program, a Algebra[T]) []T {
	values := make([]T, len(p.Steps))
	for i, s := range p.Steps {
		switch s.Op {
		case Const:
			values[i] = a.Constant(s.Value)
		case Fixed:
			values[i] = a.Fixed(s.Index)
		case Here:
			values[i] = a.Here(s.Index)
		case Next:
			values[i] = a.Next(s.Index)
		case Public:
			values[i] = a.Public(s.Index)
		case Add:
			values[i] = a.Add(values[s.X], values[s.Y])
		case Sub:
			values[i] = a.Sub(values[s.X], values[s.Y])
		default:
			values[i] = a.Mul(values[s.X], values[s.Y])
		}
	}
	return values
}

// degrees is the algebra of degrees in the columns. They end at mostDegree, which nobody can prove, so
// that they do not wrap.
type degrees struct{}

const mostDegree = 1 << 20

func (degrees) Constant(Int) int { return 0 }
func (degrees) Fixed(int) int    { return 1 }
func (degrees) Here(int) int     { return 1 }
func (degrees) Next(int) int     { return 1 }
func (degrees) Public(int) int   { return 0 }
func (degrees) Add(x, y int) int { return max(x, y) }
func (degrees) Sub(x, y int) int { return max(x, y) }
func (degrees) Mul(x, y int) int { return min(x+y, mostDegree) }

// Degrees returns each step's degree in the columns, counted formally: that of a sum is the
// greater one.
func (p *Program) Degrees() []int { return Evaluate(p, degrees{}) }

// selected is the degree that being bound to rows adds: a first or last row is picked by a
// polynomial as long as a column, and all others are by one of degree 1, for which the columns'
// own degrees, which are less than their length, leave room.
func (w Where) selected() int {
	if w == First || w == Last {
		return 1
	}
	return 0
}

// Degree is the largest degree of a constraint, the selector of its rows counted as one more.
// Messages have the degree that a prover's sums give them, and count apart.
func (p *Program) Degree() (degree int) {
	steps := p.Degrees()
	for _, c := range p.Constraints {
		degree = max(degree, steps[c.Step]+c.Where.selected())
	}
	return degree
}

// nexts is the algebra of what reads the next row.
type nexts struct{}

func (nexts) Constant(Int) bool  { return false }
func (nexts) Fixed(int) bool     { return false }
func (nexts) Here(int) bool      { return false }
func (nexts) Next(int) bool      { return true }
func (nexts) Public(int) bool    { return false }
func (nexts) Add(x, y bool) bool { return x || y }
func (nexts) Sub(x, y bool) bool { return x || y }
func (nexts) Mul(x, y bool) bool { return x || y }

// Wraps tells whether a message, or a constraint that holds in the last row, reads the next row, which is
// the first one there.
func (p *Program) Wraps() bool {
	next := Evaluate(p, nexts{})
	for _, c := range p.Constraints {
		if next[c.Step] && (c.Where == Everywhere || c.Where == Last) {
			return true
		}
	}
	for _, m := range p.Messages {
		for _, step := range append([]int{m.Multiplicity}, m.Tuple...) {
			if next[step] {
				return true
			}
		}
	}
	return false
}

// ReadsNext tells of each column whether it is read in the next row.
func (p *Program) ReadsNext() []bool {
	next := make([]bool, p.Columns)
	for _, s := range p.Steps {
		if s.Op == Next {
			next[s.Index] = true
		}
	}
	return next
}
