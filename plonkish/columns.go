package plonkish

import (
	"context"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/poly"
)

// tile is the number of elements that columns are computed on at a time: operands and registers
// stay in the second cache.
const tile = 1 << 8

// kernel is a program for columns: what depends on no column is computed once, and values share
// registers as soon as they are read for the last time.
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

// run sets dst to the program's values, of columns as long as dst, which is a power of two.
func (k *kernel) run(ctx context.Context, ex executor.Executor, form *poly.Form, dst poly.Vector, scalars []fr.Element, column func(variable) poly.Vector) error {
	fixed := k.scalars(scalars)
	columns := make([]poly.Vector, len(k.program))
	for i, s := range k.program {
		if s.op == opVariable && !k.scalar[i] {
			columns[i] = column(s.variable)
		}
	}
	size := min(dst.Len(), tile)
	tiles := dst.Len() / size
	tasks := min(tiles, 4*executor.Tasks(ex))
	return ex.Do(ctx, tasks, func(_ context.Context, task int) error {
		registers := make([]poly.Vector, k.registers)
		for i := range registers {
			registers[i] = form.New(size)
		}
		one := fr.One()
		values := make([]poly.Vector, len(k.program))
		for _, i := range k.constants {
			values[i] = form.New(size)
			values[i].SetPowers(&fixed[i], &one)
		}
		for t := tiles * task / tasks; t < tiles*(task+1)/tasks; t++ {
			for i, s := range k.program {
				switch {
				case k.scalar[i]:
				case s.op == opVariable:
					values[i] = columns[i].Slice(t*size, (t+1)*size)
				default:
					values[i] = registers[k.register[i]]
					x, y := values[s.x], values[s.y]
					switch s.op {
					case opAdd:
						values[i].Add(x, y)
					case opSub:
						values[i].Sub(x, y)
					default:
						values[i].Mul(x, y)
					}
				}
			}
			dst.Slice(t*size, (t+1)*size).Copy(values[k.result])
		}
		return nil
	})
}

// scalars are the values of the steps that depend on no column.
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
