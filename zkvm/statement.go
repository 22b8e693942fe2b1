package zkvm

import (
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark"
)

// The public values of a statement: for each stream its length in bytes, and then the elements of its hash.
const (
	publicInput  = 0
	publicOutput = publicInput + 1 + poseidon.DigestLen
)

// statement says that a program, from its first instruction on, reads an input, commits to an output, and halts at a time with an
// exit code.
func (m *machine) statement(forms []stark.Form, halted, exit uint64, input, output digest) stark.Statement {
	lo, hi := m.split(exit)
	s := stark.Statement{
		Forms: forms,
		Messages: []stark.Message{
			{Bus: busState, Times: 1, Tuple: []uint64{0, start}},
			{Bus: busHalt, Times: -1, Tuple: []uint64{halted, lo, hi}},
		},
	}
	for _, d := range []digest{input, output} {
		s.Publics = append(s.Publics, d.length)
		for _, e := range d.hash {
			s.Publics = append(s.Publics, uint64(e))
		}
	}
	return s
}

// statement returns what a proof states, in the forms of runs of its program.
func (s *system) statement(p *proof, image *stark.Image, context []byte) stark.Statement {
	about := s.machine.statement(s.forms(image.Heights()), p.halted, p.exit, p.input, digestOf(p.output))
	about.Image, about.Context = image, context
	return about
}
