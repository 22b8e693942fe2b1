package zkvm

import (
	"errors"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
)

// loop returns a program that adds 3 to register 6 n times, and halts.
func loop(n uint64) *Program {
	const imm = codeSums + codeImmediate
	constant := func(i uint64) uint64 { return firstConstant + i }
	return &Program{instructions: []decoded{
		{op: codeEqual, z: 1},
		{op: imm, rd: 5, rs2: constant(1), constant: n},
		{op: imm, rd: 6, rs1: 6, rs2: constant(2), constant: 3},
		{op: imm, rd: 5, rs1: 5, rs2: constant(3), constant: 1<<64 - 1},
		{op: codeEqual + codeBne, rs1: 5, z: 2},
		{op: imm, rd: a7, rs2: constant(5), constant: numberHalt},
		{op: codeCall},
	}}
}

// executed runs a program of sums and branches.
func executed(m *machine, program *Program) *execution {
	x := newExecution(m, program)
	for i := 0; ; {
		in, next := &program.instructions[i], i+1
		value := func(r uint64) uint64 {
			if r >= firstConstant {
				return in.constant
			}
			return x.cells[r].value
		}
		a, b := value(in.rs1), value(in.rs2)
		switch in.family() {
		case codeSums:
			x.step(step{index: i, result: a + b})
		case codeEqual:
			x.step(step{index: i})
			if (a == b) != (in.op&codeBne != 0) {
				next = int(in.z)
			}
		case codeCall:
			x.step(step{index: i})
			return x
		}
		i = next
	}
}

// proving returns the system of proofs with Keccak, and a statement about a run, of the least heights.
func proving(t testing.TB, x *execution) (s *system, form stark.Form, about stark.Statement) {
	t.Helper()
	s = must.Get(systemOf(stark.Keccak))(t)
	form = x.least()
	about = s.machine.statement([]stark.Form{form}, x.halted(), x.exit(), digestOf(x.options.Input), digestOf(x.output))
	about.Image = must.Get(x.program.image(t.Context(), executor.Serial(), s))(t)
	return s, form, about
}

// check checks the tables of a run.
func check(t testing.TB, x *execution) error {
	t.Helper()
	s, form, about := proving(t, x)
	return s.Check(t.Context(), executor.Serial(), x.traces(form), about)
}

func TestLoop(t *testing.T) {
	m := newMachine(rv64)
	program := loop(1000)
	x := executed(m, program)
	s, form, about := proving(t, x)
	if err := s.Check(t.Context(), executor.Serial(), x.traces(form), about); err != nil {
		t.Fatal(err)
	}
	proof := must.Get(s.Prove(t.Context(), executor.Serial(), x.traces(form), about, stark.Options{}))(t)
	if err := s.Verify(proof, about); err != nil {
		t.Fatal(err)
	}
	about.Messages[1].Tuple[0] += accesses
	if err := s.Verify(proof, about); !errors.Is(err, zkbench.ErrProof) {
		t.Fatal(err)
	}
}
