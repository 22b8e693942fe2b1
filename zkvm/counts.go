package zkvm

// counts says how often rows ask the tables of fixed columns for each of their rows.
type counts struct {
	halves, signs                    []uint32 // indexed by the half
	ands, bytes                      []uint32 // indexed by the two bytes
	powers                           []uint32 // indexed by kind and amount of a shift
	instructions, constants, targets []uint32 // indexed by the instruction
	loaded                           []uint32 // indexed by the program's constant cell, then the input's
}

// newCounts returns counts of 0 for a program and the number of its input's cells.
func newCounts(s shape, p *Program, input int) *counts {
	instructions := len(p.instructions)
	return &counts{
		halves: make([]uint32, s.halves()), signs: make([]uint32, s.halves()), ands: make([]uint32, 1<<(2*s.byte)), bytes: make([]uint32, 1<<(2*s.byte)), powers: make([]uint32, shiftKinds<<s.amountBits()),
		instructions: make([]uint32, instructions), constants: make([]uint32, instructions), targets: make([]uint32, instructions),
		loaded: make([]uint32, len(p.constants)+input),
	}
}

// add adds more to c.
func (c *counts) add(more *counts) {
	for i, from := range more.all() {
		to := c.all()[i]
		for j, n := range from {
			to[j] += n
		}
	}
}

func (c *counts) all() [9][]uint32 {
	return [...][]uint32{c.halves, c.signs, c.ands, c.bytes, c.powers, c.instructions, c.constants, c.targets, c.loaded}
}
