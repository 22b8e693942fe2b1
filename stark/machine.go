package stark

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// tile is how many rows a machine takes at a time: what it computes stays in the cache.
const tile = 256

// code is a table's program for rows at a time, in registers that are vectors.
type code[E field.Element[E]] struct {
	program   *air.Program
	constants []E        // by register, the first ones
	steps     []instr[E] // in order
	registers int        // in all: constants, then cells of the row, of the next row, then others
	here      []cellAt   // which registers hold which columns
	next      []cellAt
	values    []int // of each step that is asked for, its register
}

type cellAt struct{ register, column int }

// instr is one instruction: what a step is, or, with op of accumulate, a constraint to be summed.
type instr[E any] struct {
	op        air.Op
	scaled    bool // of Mul: by factor, which is in place of y
	dst, x, y int
	factor    E
	bound     int // of accumulate
}

// accumulate is not an operation of programs.
const accumulate = air.Mul + 1

// lower makes code of a program: of its constraints if they are wanted, and of the steps that are
// kept, which are the messages'.
func lower[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], p *air.Program, publics []E, constraints bool, kept []int) *code[E] {
	c := &code[E]{program: p, values: make([]int, len(p.Steps))}
	needed := make([]bool, len(p.Steps))
	bounds := make(map[int][]int)
	for _, k := range kept {
		needed[k] = true
	}
	if constraints {
		for i, b := range p.Constraints {
			needed[b.Step] = true
			bounds[b.Step] = append(bounds[b.Step], i)
		}
	}
	last := make([]int, len(p.Steps)) // the step that reads each one last
	for i := len(p.Steps) - 1; i >= 0; i-- {
		if s := p.Steps[i]; needed[i] && s.Op >= air.Add {
			for _, x := range []int{s.X, s.Y} {
				needed[x] = true
				last[x] = max(last[x], i)
			}
		}
	}
	for _, k := range kept {
		last[k] = len(p.Steps)
	}
	for _, b := range p.Constraints {
		last[b.Step] = max(last[b.Step], b.Step)
	}
	// Constants have values here, those that come of constants alone too.
	type constant struct {
		value E
		is    bool
	}
	known := make([]constant, len(p.Steps))
	numbers := make(map[E]int)
	inRegister := func(e E) int {
		r, ok := numbers[e]
		if !ok {
			r = len(c.constants)
			c.constants, numbers[e] = append(c.constants, e), r
		}
		return r
	}
	var zero E
	for i, s := range p.Steps {
		switch {
		case !needed[i]:
		case s.Op == air.Const:
			v := f.New(s.Value.Abs)
			if s.Value.Negative {
				v = zero.Sub(v)
			}
			known[i] = constant{v, true}
		case s.Op == air.Public:
			known[i] = constant{publics[s.Index], true}
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
			known[i] = constant{v, true}
		}
		// As operands of sums, and as what is asked for, they are in registers.
		if needed[i] && s.Op >= air.Add && !known[i].is {
			for _, x := range []int{s.X, s.Y} {
				if known[x].is && s.Op != air.Mul {
					inRegister(known[x].value)
				}
			}
		}
		if known[i].is && (len(bounds[i]) > 0 || last[i] == len(p.Steps)) {
			inRegister(known[i].value)
		}
	}
	c.registers = len(c.constants)
	for _, op := range []air.Op{air.Here, air.Next} {
		for i, s := range p.Steps {
			if !needed[i] || s.Op != op {
				continue
			}
			c.values[i] = c.registers
			at := cellAt{c.registers, s.Index}
			if op == air.Here {
				c.here = append(c.here, at)
			} else {
				c.next = append(c.next, at)
			}
			c.registers++
		}
	}
	var free []int
	for i, s := range p.Steps {
		if !needed[i] {
			continue
		}
		switch {
		case known[i].is:
			if r, ok := numbers[known[i].value]; ok {
				c.values[i] = r
			}
		case s.Op >= air.Add:
			in := instr[E]{op: s.Op, x: c.values[s.X], y: c.values[s.Y]}
			if s.Op == air.Mul {
				for _, by := range [][2]int{{s.X, s.Y}, {s.Y, s.X}} {
					if known[by[0]].is {
						in.scaled, in.factor, in.x = true, known[by[0]].value, c.values[by[1]]
					}
				}
			}
			for _, x := range []int{s.X, s.Y} {
				if last[x] == i && !known[x].is && p.Steps[x].Op >= air.Add {
					free = append(free, c.values[x])
					last[x] = -1 // not twice where both operands are one
				}
			}
			if len(free) == 0 {
				free = append(free, c.registers)
				c.registers++
			}
			in.dst, free = free[len(free)-1], free[:len(free)-1]
			c.values[i] = in.dst
			c.steps = append(c.steps, in)
		}
		for _, b := range bounds[i] {
			c.steps = append(c.steps, instr[E]{op: accumulate, x: c.values[i], bound: b})
		}
		if s.Op >= air.Add && !known[i].is && last[i] == i { // a constraint that nothing reads
			free = append(free, c.values[i])
		}
	}
	return c
}

// tiles calls work on executor's tasks, each with rows from one tile to another, of so many rows in all.
func tiles(ctx context.Context, ex executor.Executor, rows int, work func(from, to int)) error {
	n := max(1, rows/tile)
	tasks := min(executor.Tasks(ex), n)
	return ex.Do(ctx, tasks, func(_ context.Context, i int) error {
		work(rows/n*(n*i/tasks), rows/n*(n*(i+1)/tasks))
		return nil
	})
}

// machine runs code on rows.
type machine[E field.Element[E], X field.Extension[E, X]] struct {
	*code[E]
	field field.Field[E, X]
	slots [][]E // of the registers, their values
	wrap  []E   // of cells of a next row behind the last one
	size  int
	tuple [][]E // of a message
}

func newMachine[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], c *code[E], rows int) *machine[E, X] {
	m := &machine[E, X]{code: c, field: f, size: min(rows, tile), slots: make([][]E, c.registers)}
	cells := len(c.here) + len(c.next)
	memory := make([]E, (c.registers-cells+len(c.next))*m.size)
	take := func() (v []E) {
		v, memory = memory[:m.size:m.size], memory[m.size:]
		return v
	}
	for r := range m.slots {
		if r < len(c.constants) || r >= len(c.constants)+cells {
			m.slots[r] = take()
		}
		if r < len(c.constants) {
			for i := range m.slots[r] {
				m.slots[r][i] = c.constants[r]
			}
		}
	}
	m.wrap = memory
	return m
}

// run runs the code on the rows from lo on, as many as a machine takes, of columns that have rows
// in all; sum is told each constraint's values.
func (m *machine[E, X]) run(column func(i int) []E, rows, lo int, sum func(bound int, values []E)) {
	hi := lo + m.size
	for _, c := range m.here {
		m.slots[c.register] = column(c.column)[lo:hi]
	}
	for i, c := range m.next {
		values := column(c.column)
		if hi < rows {
			m.slots[c.register] = values[lo+1 : hi+1]
			continue
		}
		wrap := m.wrap[i*m.size:][:m.size]
		copy(wrap, values[lo+1:])
		wrap[m.size-1] = values[0]
		m.slots[c.register] = wrap
	}
	for i := range m.steps {
		in := &m.steps[i]
		x := m.slots[in.x]
		switch {
		case in.op == accumulate:
			sum(in.bound, x)
		case in.scaled:
			m.field.MulScalar(m.slots[in.dst], x, in.factor)
		case in.op == air.Mul:
			m.field.Mul(m.slots[in.dst], x, m.slots[in.y])
		case in.op == air.Add:
			m.field.Add(m.slots[in.dst], x, m.slots[in.y])
		default:
			m.field.Sub(m.slots[in.dst], x, m.slots[in.y])
		}
	}
}

// value is a step's values, one of those kept.
func (m *machine[E, X]) value(step int) []E { return m.slots[m.values[step]] }
