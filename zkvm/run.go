package zkvm

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/riscv"
)

// run executes the program and returns the rows of its run.
func (p *Program) run(ctx context.Context, m *machine, options riscv.Options) (*execution, *riscv.Result, error) {
	x := newExecution(m, p)
	x.options = options
	x.step(step{})
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	options.Trace = func(s riscv.Step) {
		if err := x.trace(s); err != nil {
			cancel(err)
		}
	}
	r, err := riscv.Run(ctx, p.guest, options)
	if refused := context.Cause(ctx); refused != nil {
		err = refused
	}
	return x, r, err
}

// execute runs the program on an input. The run must end with an exit code.
func (p *Program) execute(ctx context.Context, m *machine, input []byte, exit uint64) (*execution, error) {
	x, _, err := p.run(ctx, m, riscv.Options{Input: input, CycleLimit: 1 << largest, MemoryLimit: memoryLimit()})
	if _, ended := errors.AsType[*riscv.ExitError](err); err != nil && !ended {
		return x, err
	}
	if x.exit() != exit { // of which riscv has the lowest byte only
		return x, &riscv.ExitError{Code: int(x.exit()), Output: x.output}
	}
	return x, nil
}

// memoryLimit returns the bytes of memory that a run with a proof takes at most, in whole pages: those of the program's cells and of
// the input, and a page for each row of the zeros in the largest forms.
func memoryLimit() uint64 {
	zeros := 0
	for _, x := range sizes[len(sizes)-1].mixes {
		zeros = max(zeros, x.height(codeZeros, largest))
	}
	const parts = 4 * mostRegions // pages that segments and the input have only a part of, and those of the first cells of regions
	return uint64(zeros+parts)*pageBytes + mostCells*wordBytes + MaxInput
}

// exit returns the code with which the program has ended.
func (x *execution) exit() uint64 { return x.cells[a0].value }

// unproved is the error of an instruction that has no row.
type unproved struct {
	what string // the kind of instruction or call
	error
}

func (u *unproved) Unwrap() error { return u.error }

// refuse returns the error of an instruction that has no row: zkbench.ErrParams.
func refuse(what, format string, args ...any) error {
	return &unproved{what, fmt.Errorf("%w: "+format, append([]any{zkbench.ErrParams}, args...)...)}
}

// baseEnd is the end of the bases that the tables accept. An address is below it, so that a base from there on is one of which
// the sum wraps 2^64.
const baseEnd = 1 << 48

// trace adds a step of the executor. If it has no row, trace returns an *unproved.
func (x *execution) trace(s riscv.Step) error {
	p := x.program
	index, ok := x.last+1, true
	if index >= len(p.instructions) || p.instructions[index].address != s.Address { // it is not the one behind the last
		if index, ok = p.index[s.Address]; !ok {
			return refuse("unknown code", "no instruction at %#x", s.Address)
		}
	}
	x.last = index
	in := &p.instructions[index]
	if in.op == 0 {
		return refuse(in.other, "the instruction at %#x is not one of RV64IM", s.Address)
	}
	if s.Memory != 0 {
		if size := in.accessed(); s.Memory%size != 0 { // the executor of a proof ends such a run
			return refuse("misaligned access", "the instruction at %#x accesses %d bytes at %#x", s.Address, size, s.Memory)
		}
		if err := x.checkRead(s.Address, s.Memory, 1); err != nil {
			return err
		}
	}
	one := step{index: index, result: s.Result, address: s.Memory, stored: s.After}
	if in.isStore() {
		one.result = s.B
	}
	based := in.isBased()
	if in.op == codeJump+codeJalr {
		one.address = s.A + uint64(signed(in.z))
		one.next, based = p.index[s.Next] // if there is none, the run ends with a fault or at the next step
	}
	if based && s.A >= baseEnd {
		return refuse("base that wraps", "the instruction at %#x adds to the base %#x, accepted are bases below 2^48", s.Address, s.A)
	}
	if s.Call != nil {
		if err := x.checkCall(s); err != nil || s.Call.Refused { // then the run ends with a fault
			return err
		}
	}
	x.step(one)
	return nil
}
