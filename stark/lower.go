package stark

import (
	"context"
	"slices"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/step"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// lowering turns a program into code.
type lowering[E field.Element[E]] struct {
	*code[E]
	steps  []air.Step
	known  []constant[E]
	needed []bool
	forms  []form // how to compute the needed steps that are not known
	memory []int  // memory of lists
}

// list returns a list in the common memory, because there are very many short lists.
func (l *lowering[E]) list(of ...int) []int {
	if len(l.memory)+len(of) > cap(l.memory) {
		l.memory = make([]int, 0, 1<<12) // a list is far shorter
	}
	from := len(l.memory)
	l.memory = append(l.memory, of...)
	return l.memory[from:len(l.memory):len(l.memory)]
}

type constant[E any] struct {
	value E
	is    bool
}

// form says how a step is computed: by an operation on two other steps, or packed from several.
type form struct {
	op     step.Op
	packed bool
	of     []int
}

// form returns the form of a step. Operations by which bits are often combined take one pass over vectors,
// instead of a step for each sum and product.
func (l *lowering[E]) form(i int, uses []int, one, two E) form {
	s := l.steps[i]
	is := func(step int, value E) bool { return l.known[step] == constant[E]{value, true} }
	switch s.Op {
	case air.Sub:
		// x + y - 2 (x y)
		sum, double := l.steps[s.X], l.steps[s.Y]
		if sum.Op != air.Add || double.Op != air.Mul {
			break
		}
		for _, by := range [][2]int{{double.X, double.Y}, {double.Y, double.X}} {
			if p := l.steps[by[1]]; is(by[0], two) && p.Op == air.Mul && p.X == sum.X && p.Y == sum.Y {
				return form{op: step.Xor, of: l.list(p.X, p.Y)}
			}
		}
	case air.Mul:
		for _, by := range [][2]int{{s.X, s.Y}, {s.Y, s.X}} {
			if not := l.steps[by[0]]; not.Op == air.Sub && is(not.X, one) {
				return form{op: step.AndNot, of: l.list(by[1], not.Y)}
			}
		}
	case air.Add:
		if of := l.packed(i, uses); len(of) > 1 {
			return form{packed: true, of: l.list(of...)}
		}
	}
	of := l.list(s.X, s.Y)
	if s.Op == air.Mul && l.known[s.X].is {
		slices.Reverse(of) // a constant factor comes second
	}
	return form{op: step.Op(s.Op - air.Add), of: of}
}

// packed returns the steps of which step i is a weighted sum, each with twice the weight of the one before. A
// step qualifies if it is one step plus twice the sum of the others, and if nothing else reads that sum.
func (l *lowering[E]) packed(i int, uses []int) (of []int) {
	for len(of) < field.MaxPack-1 {
		s := l.steps[i]
		if s.Op != air.Add || len(of) > 0 && uses[i] > 2 {
			break
		}
		bit, double := s.X, s.Y
		if !l.doubled(double) {
			bit, double = double, bit
		}
		if !l.doubled(double) || len(of) > 0 && l.known[i].is {
			break
		}
		of = append(of, bit)
		if i = l.steps[double].X; uses[double] > 1 {
			break
		}
	}
	return append(of, i)
}

// doubled reports whether a step adds another step to itself.
func (l *lowering[E]) doubled(i int) bool {
	s := l.steps[i]
	return s.Op == air.Add && s.X == s.Y && !l.known[i].is
}

// usesOf returns how often each step is read.
func usesOf(p *air.Program, kept []int) []int {
	uses := make([]int, len(p.Steps))
	for _, s := range p.Steps {
		if s.Op >= air.Add {
			uses[s.X]++
			uses[s.Y]++
		}
	}
	for _, b := range p.Constraints {
		uses[b.Step]++
	}
	for _, k := range kept {
		uses[k]++
	}
	return uses
}

// knownSteps returns the values of constants and of the steps that depend on constants alone.
func knownSteps[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], p *air.Program) []constant[E] {
	known := make([]constant[E], len(p.Steps))
	var zero E
	for i, s := range p.Steps {
		switch {
		case s.Op == air.Const:
			v := f.New(s.Value.Abs)
			if s.Value.Negative {
				v = zero.Sub(v)
			}
			known[i] = constant[E]{v, true}
		case s.Op >= air.Add && known[s.X].is && known[s.Y].is:
			v, y := known[s.X].value, known[s.Y].value
			switch s.Op {
			case air.Add:
				v = v.Add(y)
			case air.Sub:
				v = v.Sub(y)
			default:
				v = v.Mul(y)
			}
			known[i] = constant[E]{v, true}
		}
	}
	return known
}

// codes are a table's code for everything that it states, and for its messages alone.
type codes[E field.Element[E]] struct{ all, messages *code[E] }

func (y *system[E, X]) lower(ctx context.Context, ex executor.Executor, s *statement) error {
	y.vectors, y.codes = field.NewVectors[E, X](y.field), make([]codes[E], len(s.programs))
	return ex.Do(ctx, 2*len(s.programs), func(_ context.Context, i int) error {
		p := s.programs[i/2]
		kept := messageSteps(p)
		if i%2 == 0 {
			y.codes[i/2].all = lower[E, X](y.field, p, s.fixedPhase(i/2), true, kept)
		} else {
			y.codes[i/2].messages = lower[E, X](y.field, p, s.fixedPhase(i/2), false, kept)
		}
		return nil
	})
}

// lower compiles a program: the steps in kept, which are those of messages, and the constraints if they are
// asked for. Fixed columns are those of the given phase.
func lower[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], p *air.Program, fixed int, constraints bool, kept []int) *code[E] {
	n := len(p.Steps)
	l := &lowering[E]{
		code: &code[E]{program: p, values: make([]int, n)}, steps: p.Steps, known: knownSteps(f, p),
		needed: make([]bool, n), forms: make([]form, n),
	}
	bounds := make(map[int][]int)
	uses := usesOf(p, kept)
	two := f.New(2)
	one := f.New(1)
	for _, k := range kept {
		l.needed[k] = true
	}
	if constraints {
		for i, b := range p.Constraints {
			l.needed[b.Step] = true
			bounds[b.Step] = append(bounds[b.Step], i)
		}
	}
	// From the last step to the first: the operands of a needed step are needed too.
	last := make([]int, n) // the step that reads each one last
	for i := n - 1; i >= 0; i-- {
		if !l.needed[i] || l.known[i].is || p.Steps[i].Op < air.Add {
			continue
		}
		l.forms[i] = l.form(i, uses, one, two)
		for _, x := range l.forms[i].of {
			l.needed[x] = true
			last[x] = max(last[x], i)
		}
	}
	for _, k := range kept {
		last[k] = n
	}
	c := l.code
	numbers := make(map[E]int)
	for i := range n {
		if k := l.known[i]; l.needed[i] && k.is {
			r, ok := numbers[k.value]
			if !ok {
				r = len(c.constants)
				c.constants, numbers[k.value] = append(c.constants, k.value), r
			}
			c.values[i] = r
		}
	}
	c.registers = len(c.constants)
	for _, op := range []air.Op{air.Public, air.Fixed, air.Here, air.Next} {
		for i, s := range p.Steps {
			if !l.needed[i] || s.Op != op {
				continue
			}
			c.values[i] = c.registers
			switch at := (cellAt{c.registers, ofColumns, s.Index}); op {
			case air.Public:
				c.publics = append(c.publics, s.Index)
			case air.Fixed:
				at.phase = fixed
				c.here = append(c.here, at)
			case air.Here:
				c.here = append(c.here, at)
			case air.Next:
				c.next = append(c.next, at)
			}
			c.registers++
		}
	}
	l.order(bounds, last)
	return c
}

// order writes the steps down and assigns registers. A step keeps its register until the last step that reads
// it, or until the sum that contains its constraint.
func (l *lowering[E]) order(bounds map[int][]int, last []int) {
	c, n := l.code, len(l.steps)
	var free, of []int
	computed := func(i int) bool { return l.needed[i] && !l.known[i].is && l.steps[i].Op >= air.Add }
	release := func(i int, of []int) {
		for _, x := range of {
			if last[x] == i && computed(x) {
				free = append(free, c.values[x])
				last[x] = n // only once if both operands are the same
			}
		}
	}
	var sums [air.Transition + 1]pass
	var waiting [air.Transition + 1][]int // registers of values that nothing but the sum reads
	var steps []step.Step
	then := func(p pass) {
		p.steps, steps = steps, nil
		c.passes = append(c.passes, p)
	}
	sum := func(w air.Where) {
		if len(sums[w].bounds) > 0 {
			then(sums[w])
			free = append(free, waiting[w]...)
		}
		sums[w], waiting[w] = pass{then: thenSummed, where: w}, nil
	}
	for w := range sums {
		sum(air.Where(w))
	}
	for i := range n {
		if computed(i) {
			of = append(of[:0], l.forms[i].of...)
			packs, x := l.forms[i].packed, l.forms[i].of
			for j, o := range of {
				x[j] = c.values[o]
			}
			if !packs { // Pack still reads its operands when it sets its result
				release(i, of)
			}
			if len(free) == 0 {
				free = append(free, c.registers)
				c.registers++
			}
			dst := free[len(free)-1]
			free = free[:len(free)-1]
			release(i, of)
			c.values[i] = dst
			if packs {
				then(pass{then: thenPacked, dst: dst, x: x})
			} else {
				steps = append(steps, step.Step{Op: l.forms[i].op, Dst: uint32(dst), X: uint32(x[0]), Y: uint32(x[1])})
			}
		}
		for _, b := range bounds[i] {
			w := c.program.Constraints[b].Where
			sums[w].x, sums[w].bounds = append(sums[w].x, c.values[i]), append(sums[w].bounds, b)
			if computed(i) {
				if last[i] < i && len(bounds[i]) == 1 {
					waiting[w] = append(waiting[w], c.values[i])
				}
				last[i] = n // no step releases it
			}
			if len(sums[w].bounds) == together {
				sum(w)
			}
		}
	}
	for w := range sums {
		sum(air.Where(w))
	}
	then(pass{})
}
