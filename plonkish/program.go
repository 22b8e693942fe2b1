package plonkish

import "github.com/consensys/gnark-crypto/ecc/bn254/fr"

// program is an Expr as a list of steps. Each step is computed from earlier ones, the last is the value of
// the Expr, and equal parts are one step.
type program []step

type step struct {
	op       op
	x, y     int // steps
	variable variable
	value    fr.Element
}

func compile(e Expr) program {
	if e.node == nil {
		e = Int(0)
	}
	var p program
	known, numbers := make(map[*node]int), make(map[step]int)
	var number func(n *node) int
	number = func(n *node) int {
		if i, ok := known[n]; ok {
			return i
		}
		s := step{op: n.op, variable: n.variable, value: n.value}
		if n.x != nil {
			s.x, s.y = number(n.x), number(n.y)
		}
		i, ok := numbers[s]
		if !ok {
			i = len(p)
			p, numbers[s] = append(p, s), i
		}
		known[n] = i
		return i
	}
	number(e.node)
	return p
}

// variables returns the variables that a program reads, each once.
func (p program) variables() []variable {
	var all []variable
	for _, s := range p {
		if s.op == opVariable {
			all = append(all, s.variable)
		}
	}
	return all
}

// algebra says how a program is evaluated.
type algebra[T any] interface {
	variable(v variable) T
	constant(c fr.Element) T
	apply(o op, x, y T) T
}

// evaluate runs a program.
func evaluate[T any](p program, a algebra[T]) T {
	values := make([]T, len(p))
	for i, s := range p {
		switch s.op {
		case opConst:
			values[i] = a.constant(s.value)
		case opVariable:
			values[i] = a.variable(s.variable)
		default:
			values[i] = a.apply(s.op, values[s.x], values[s.y])
		}
	}
	return values[len(p)-1]
}

// leading is a polynomial's formal degree and its coefficient there, which may be 0.
type leading struct {
	degree int
	top    fr.Element
}

// leadings is the algebra of formal degrees and their coefficients; the function gives those of a variable.
type leadings func(v variable) leading

func (l leadings) variable(v variable) leading   { return l(v) }
func (l leadings) constant(c fr.Element) leading { return leading{0, c} }

func (l leadings) apply(o op, x, y leading) leading {
	switch {
	case o == opMul:
		return leading{x.degree + y.degree, apply(o, x.top, y.top)}
	case x.degree > y.degree:
		return x
	case x.degree < y.degree:
		return leading{y.degree, apply(o, fr.Element{}, y.top)}
	}
	return leading{x.degree, apply(o, x.top, y.top)}
}
