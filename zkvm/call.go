package zkvm

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/stark/air"
)

// calls is the table of ecall: the host calls. Register a7 has the call's number, a0 and a1 have its arguments and then its
// results.
type calls struct {
	columns
	instruction
	flags          [callKinds]column // one of them is 1 in a row of a call
	number         access            // a7
	first, second  access            // a0 and a1
	result, length word              // what a0 and a1 hold afterwards
}

// The kinds of calls. Another call has no row, and so a run with it has no proof.
const (
	callHalt    = iota
	callInput   // a0 gets the address of the input, and a1 its length
	callCommit  // the a1 bytes at a0 are committed, and a0 gets 0
	callNothing // the same for a length of 0
	callBegin   // marks change nothing: their arguments are not read
	callEnd
	callKinds
)

// callNumbers has the numbers of the calls.
var callNumbers = [callKinds]uint64{numberHalt, call.Input, call.Commit, call.Commit, call.Begin, call.End}

// The registers of calls.
const (
	a0 = 10
	a1 = 11
	a7 = 17
)

// numberHalt is the number of the call that ends a program, with the exit code in a0: Linux' exit.
const numberHalt = 93

func newCalls(s shape) *calls {
	t := &calls{}
	t.instruction = t.columns.instruction()
	for i, name := range [callKinds]string{"halt", "input", "commit", "commit nothing", "begin", "end"} {
		t.flags[i] = t.bit(name)
	}
	t.number, t.first, t.second = t.columns.access("number", s), t.columns.access("a0", s), t.columns.access("a1", s)
	t.result, t.length = t.columns.word("result", s), t.columns.word("length", s)
	return t
}

func (*calls) name() string        { return "calls" }
func (t *calls) shapeOf() *columns { return &t.columns }

func (t *calls) state(b builder) {
	index, time := b.at(t.index), b.at(t.time)
	var is [callKinds]air.Expr
	var real air.Expr
	var called limbs
	for i, flag := range t.flags {
		b.bit(t.names[flag], flag)
		is[i] = b.at(flag)
		real = real.Add(is[i])
		lo, hi := b.split(callNumbers[i])
		called = limbs{called.lo.Add(is[i].Times(int64(lo))), called.hi.Add(is[i].Times(int64(hi)))}
	}
	halt, input, commit, nothing := is[callHalt], is[callInput], is[callCommit], is[callNothing]
	b.Ask(busState, real, index, time)
	b.Ask(busProgram, real, index, real.Times(codeCall), zero, zero, zero, zero)
	number, first, second := b.word(t.number.word), b.word(t.first.word), b.word(t.second.word)
	b.zero("lower limb of the number", number.lo.Sub(called.lo))
	b.zero("upper limb of the number", number.hi.Sub(called.hi))

	b.register(number, t.number.time, real, real, real.Times(a7), time, 0, number)
	b.register(first, t.first.time, real, real, real.Times(a0), time, 1, b.word(t.result))
	b.register(second, t.second.time, real, real, real.Times(a1), time, 2, b.word(t.length))

	// A call gives a0 the address of the input or 0, or keeps it, and a1 the length of the input, or keeps it. The table of the
	// input has fewer bytes than a limb has numbers.
	lo, hi := b.split(riscv.InputAddress)
	keeps, result, length := one.Sub(sum(input, commit, nothing)), b.word(t.result), b.word(t.length)
	b.zero("lower limb of a0", result.lo.Sub(keeps.Mul(first.lo)).Sub(input.Times(int64(lo))))
	b.zero("upper limb of a0", result.hi.Sub(keeps.Mul(first.hi)).Sub(input.Times(int64(hi))))
	b.zero("lower limb of a1", length.lo.Sub(second.lo).Sub(input.Mul(b.Public(publicInput).Sub(second.lo))))
	b.zero("upper limb of a1", length.hi.Sub(second.hi).Add(input.Mul(second.hi)))

	// What is committed has an address below 2^48 and a length below 2^32, which are numbers and not only numbers modulo the
	// field's order. The rows of its bytes come between the call and its successor. A halt has no successor.
	b.rangeHalf(commit, first.hi)
	b.zero("upper limb of the length", commit.Add(nothing).Mul(second.hi))
	b.zero("commit nothing", nothing.Mul(second.lo))
	b.Answer(busState, real.Sub(halt).Sub(commit), index.Add(one), time.Plus(accesses))
	b.Answer(busCommit, commit, time.Plus(accesses), index.Add(one), first.lo.Add(first.hi.Times(b.radix())), second.lo)
	b.Answer(busHalt, halt, time, first.lo, first.hi)
}

func (t *calls) fill(w *writer, s *step, _ *decoded) {
	w.instruction(t.instruction, s)
	kind, _ := kindOf(s.a.value, s.old.value)
	w.set(t.flags[kind], 1)
	w.access(t.number, s.a, s.time)
	w.access(t.first, s.b, s.time+1)
	w.access(t.second, s.old, s.time+2)
	w.setWord(t.result, s.result)
	w.setWord(t.length, s.stored)
	if kind == callCommit {
		_, hi := w.split(s.b.value)
		w.half(hi)
	}
}

// kindOf returns the kind of a call, or false if it has no table.
func kindOf(number, a1 uint64) (kind int, ok bool) {
	for kind, n := range callNumbers {
		if n == number && (kind != callCommit || a1 != 0) {
			return kind, true
		}
	}
	return 0, false
}

// call adds the accesses of a call, and what a0 and a1 hold afterwards.
func (x *execution) call(s *step) {
	s.a = x.read(a7, 0)
	s.result, s.stored = x.cells[a0].value, x.cells[a1].value
	switch s.a.value {
	case call.Input:
		s.result, s.stored = riscv.InputAddress, uint64(len(x.options.Input))
	case call.Commit:
		s.result = 0
	}
	s.b, s.old = x.set(a0, 1, s.result), x.set(a1, 2, s.stored)
}

// checkCall returns zkbench.ErrParams if a call of a run has no table, and names the call. It returns a *zkbench.LimitError if the
// run commits to more bytes than a proof holds.
func (x *execution) checkCall(s riscv.Step) error {
	number := s.Call.Number
	kind, ok := kindOf(number, s.Call.Arguments[1])
	switch {
	case ok && kind == callCommit && !s.Call.Refused:
		if n := uint64(x.committed.n) + s.Call.Arguments[1]; n > MaxOutput && !x.counted { // before its rows take memory
			return &zkbench.LimitError{What: "bytes of the output", Estimate: int64(n), Max: MaxOutput}
		}
		return x.checkRead(s.Address, s.Call.Arguments[0], s.Call.Arguments[1])
	case ok:
		return nil
	}
	what := fmt.Sprintf("call %#x", number)
	name := what
	for _, p := range x.options.Precompiles {
		if p.Number == number {
			what = "precompile " + p.Name
			name = fmt.Sprintf("%s (%#x)", what, number)
		}
	}
	return refuse(what, "%s at %#x is not proved, accepted are exit (%d) and the calls for input, output and sections (%#x to %#x)",
		name, s.Address, numberHalt, call.Input, call.End)
}
