package field

import "github.com/zkbench/zkbench/internal/arith/step"

// operations has a function for each operation of a step, which sets all elements of dst.
type operations[E any] [step.Ops]func(dst, x, y []E)

// run runs steps on registers from a row on: on the rows that a kernel leaves.
func (o *operations[E]) run(registers [][]E, steps []step.Step, from int) {
	for _, s := range steps {
		o[s.Op](registers[s.Dst][from:], registers[s.X][from:], registers[s.Y][from:])
	}
}
