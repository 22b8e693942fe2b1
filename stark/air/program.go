package air

import (
	"fmt"
	"slices"
)

// Program is straight-line code for the constraints and messages of a table. Each step computes a value from
// the values of earlier steps. Equal subexpressions share one step.
type Program struct {
	Columns     int
	Fixed       int // number of fixed columns, or of columns of the image
	Steps       []Step
	Constraints []Bound
	Messages    []Sent
	Publics     int // 1 plus the index of the last public value that it reads; 0 if it reads none
}

// Step is one step of a Program. The operation Op computes the value of the step.
type Step struct {
	Op    Op
	X, Y  int // the operands' steps, for Add, Sub and Mul
	Index int // of a column, fixed column or public value
	Value Int // for Const
}

// Bound is a constraint together with the step whose value must be 0.
type Bound struct {
	Constraint
	Step int
}

// Sent is a message: the steps that compute its multiplicity and tuple. The multiplicity is positive for an
// answer and negative for an ask.
type Sent struct {
	Bus          string
	Multiplicity int
	Tuple        []int
	Asks         uint64 // maximum number of times that a row asks; 0 for an answer
	Link         int    // 1 plus the index of the fixed column that is the multiplicity; 0 if there is none
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
		c.zero = Expr{} // only the steps are needed from here on
		p.Constraints = append(p.Constraints, Bound{c, step})
	}
	for _, m := range b.messages {
		if when := number(m.multiplicity.node); m.kind == asksOnce && !p.bits(fixed)[when] {
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

// bits reports for each step whether its value is 0 or 1 in every row. A step qualifies if it is the constant
// 0 or 1, a fixed column of bits, 1 minus a bit, a product of two bits, or if a constraint says so. Nothing is
// known about an image.
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
			bits[i] = s.Index < len(fixed) && !slices.ContainsFunc(fixed[s.Index], func(v uint64) bool { return v > 1 })
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

// Algebra says how to compute the values of the steps of a Program. The values have type T. Other packages can
// implement Algebra, to evaluate programs over values of their own.
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

// degrees is the algebra of degrees in the columns. Degrees are capped at mostDegree, which no system can
// prove, so that they do not overflow.
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

// Degrees returns for each step the degree of its value as a polynomial in the columns. It computes the
// degrees formally: the degree of a sum is the larger of its operands' degrees.
func (p *Program) Degrees() []int { return Evaluate(p, degrees{}) }

// selected returns the degree that the rows of a constraint add. A first or last row is selected by a
// polynomial as long as a column. All other rows are selected by one of degree 1, for which there is room
// because the columns' degrees are below their length.
func (w Where) selected() int {
	if w == First || w == Last {
		return 1
	}
	return 0
}

// Degree returns the largest degree of a constraint. If a constraint holds only in the first or last row,
// its degree counts as one higher, because of the selector of that row. Messages are not included, because
// their degree depends on how a prover sums them.
func (p *Program) Degree() (degree int) {
	steps := p.Degrees()
	for _, c := range p.Constraints {
		degree = max(degree, steps[c.Step]+c.Where.selected())
	}
	return degree
}

// nexts is the algebra that finds what reads the next row.
type nexts struct{}

func (nexts) Constant(Int) bool  { return false }
func (nexts) Fixed(int) bool     { return false }
func (nexts) Here(int) bool      { return false }
func (nexts) Next(int) bool      { return true }
func (nexts) Public(int) bool    { return false }
func (nexts) Add(x, y bool) bool { return x || y }
func (nexts) Sub(x, y bool) bool { return x || y }
func (nexts) Mul(x, y bool) bool { return x || y }

// Wraps reports whether the program reads the first row as the row after the last. It returns true if a
// message of the program reads the next row, or if a constraint that holds in the last row reads the next
// row.
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

// ReadsNext reports for each column whether the program reads the cell of the next row in this column.
func (p *Program) ReadsNext() []bool {
	next := make([]bool, p.Columns)
	for _, s := range p.Steps {
		if s.Op == Next {
			next[s.Index] = true
		}
	}
	return next
}
