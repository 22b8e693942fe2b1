package plonkish

import (
	"context"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/poly"
)

// tile is the number of elements of a column that are computed at a time: operands and registers stay in the
// second-level cache.
const tile = 1 << 8

// kernel is a program for columns. Steps that depend on no column are computed once. Registers are reused as
// soon as their value has been read for the last time.
type kernel struct {
	program   program
	scalar    []bool // by step: depends on no column
	constants []int  // steps that are scalar, and that a step that is none reads
	register  []int  // by step that is none: its register
	registers int
	result    int
}

func newKernel(p program) *kernel {
	k := &kernel{program: p, scalar: make([]bool, len(p)), register: make([]int, len(p)), result: len(p) - 1}
	until := make([]int, len(p)) // the last step that reads it
	for i, s := range p {
		switch s.op {
		case opConst:
			k.scalar[i] = true
		case opVariable:
			k.scalar[i] = s.variable.kind == scalar
		default:
			k.scalar[i] = k.scalar[s.x] && k.scalar[s.y]
			until[s.x], until[s.y] = i, i
		}
	}
	until[k.result] = len(p)
	needed := make([]bool, len(p))
	var unused []int
	for i, s := range p {
		if k.scalar[i] || s.op == opVariable {
			continue
		}
		for _, operand := range []int{s.x, s.y} {
			if k.scalar[operand] {
				needed[operand] = true
			} else if p[operand].op != opVariable && until[operand] == i {
				unused = append(unused, k.register[operand])
				until[operand]++ // x may be y
			}
		}
		if len(unused) == 0 {
			unused = append(unused, k.registers)
			k.registers++
		}
		k.register[i] = unused[len(unused)-1]
		unused = unused[:len(unused)-1]
	}
	for i, yes := range needed {
		if yes {
			k.constants = append(k.constants, i)
		}
	}
	return k
}

// stepsOfTask is the number of steps, on a tile each, that a task does at least, so that it takes far longer than a call of Do.
const stepsOfTask = 1 << 8

// runs runs a kernel on columns of one length.
type runs struct {
	*kernel
	size  int // of a tile
	spare spare[*run]
}

// runs returns runs of the kernel on columns of n elements, a power of two.
func (k *kernel) runs(form *poly.Form, n int, scalars []fr.Element) *runs {
	size := min(n, tile)
	return &runs{k, size, spare[*run]{made: func() *run { return k.start(form, size, scalars) }}}
}

// run sets dst to the program's values, and calls done for each range lo to hi-1 of it that has been set.
func (k *runs) run(ctx context.Context, ex executor.Executor, dst poly.Vector, column func(variable) poly.Vector, done func(lo, hi int)) error {
	tiles := dst.Len() / k.size
	tasks := max(1, min(tiles, tiles*len(k.program)/stepsOfTask))
	return ex.Do(ctx, tasks, func(_ context.Context, task int) error {
		r := k.spare.take()
		defer k.spare.give(r)
		r.read(column)
		for t := tiles * task / tasks; t < tiles*(task+1)/tasks; t++ {
			r.at = t * k.size
			r.tile(dst.Slice(r.at, r.at+k.size))
			done(r.at, r.at+k.size)
		}
		return nil
	})
}

// run holds a kernel's registers and columns.
type run struct {
	*kernel
	columns   []poly.Vector // by step that is a variable
	registers []poly.Vector
	values    []poly.Vector // by step
	at        int           // where in columns the tile begins
}

// start returns the kernel with registers for tiles of size elements.
func (k *kernel) start(form *poly.Form, size int, scalars []fr.Element) *run {
	r := &run{kernel: k, columns: make([]poly.Vector, len(k.program)), registers: make([]poly.Vector, k.registers), values: make([]poly.Vector, len(k.program))}
	for i := range r.registers {
		r.registers[i] = form.New(size)
	}
	fixed, one := k.scalars(scalars), fr.One()
	constants := k.constants
	if k.scalar[k.result] {
		constants = append(slices.Clip(constants), k.result)
	}
	for _, i := range constants {
		r.values[i] = form.New(size)
		r.values[i].SetPowers(&fixed[i], &one)
	}
	return r
}

// read sets the columns.
func (r *run) read(column func(variable) poly.Vector) {
	for i, s := range r.program {
		if s.op == opVariable && !r.scalar[i] {
			r.columns[i] = column(s.variable)
		}
	}
}

// tile sets dst, which may be part of a column, to the program's values of one tile.
func (r *run) tile(dst poly.Vector) {
	for i, s := range r.program {
		switch {
		case r.scalar[i]:
		case s.op == opVariable:
			r.values[i] = r.columns[i].Slice(r.at, r.at+dst.Len())
		default:
			r.values[i] = r.registers[r.register[i]]
			x, y := r.values[s.x], r.values[s.y]
			switch s.op {
			case opAdd:
				r.values[i].Add(x, y)
			case opSub:
				r.values[i].Sub(x, y)
			default:
				r.values[i].Mul(x, y)
			}
		}
	}
	dst.Copy(r.values[r.result])
}

// scalars returns the values of the steps that depend on no column.
func (k *kernel) scalars(challenges []fr.Element) []fr.Element {
	values := make([]fr.Element, len(k.program))
	for i, s := range k.program {
		switch {
		case !k.scalar[i]:
		case s.op == opConst:
			values[i] = s.value
		case s.op == opVariable:
			values[i] = challenges[s.variable.index]
		default:
			values[i] = apply(s.op, values[s.x], values[s.y])
		}
	}
	return values
}
