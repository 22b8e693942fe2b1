package riscv_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// replay is a machine whose registers and memory change only as the steps of a trace say.
type replay struct {
	t      *testing.T
	table  map[uint64]riscv.Instruction
	isa    riscv.ISA
	next   uint64
	x      [33]uint64
	memory map[uint64]byte
	input  []byte
	steps  uint64
}

// newReplay returns a replay of a bare program that is about to start.
func newReplay(t *testing.T, p *riscv.Program, input []byte) *replay {
	r := &replay{t: t, table: make(map[uint64]riscv.Instruction), isa: p.ISA, next: p.Entry, memory: make(map[uint64]byte), input: input}
	for _, in := range p.Instructions() {
		r.table[in.Address] = in
	}
	for _, s := range p.Segments() {
		for i, b := range s.Data {
			r.memory[s.Start+uint64(i)] = b
		}
	}
	return r
}

// word returns eight bytes of memory from an address on.
func (r *replay) word(at uint64) uint64 {
	var raw [8]byte
	for i := range raw {
		raw[i] = r.memory[at+uint64(i)]
	}
	return binary.LittleEndian.Uint64(raw[:])
}

// extend returns a number in the form in which a register holds it.
func (r *replay) extend(v uint64) uint64 {
	if r.isa.XLEN == 32 {
		return uint64(int64(int32(v)))
	}
	return v
}

// step checks that an instruction of the table takes what is there, and leaves what it should.
func (r *replay) step(s riscv.Step) {
	r.steps++
	in, ok := r.table[s.Address]
	next, result := r.extend(s.Address+uint64(in.Size)), s.Result
	switch size := accessed(in.Op); {
	case !ok || in.Op == "" || s.Address != r.next:
		r.t.Fatalf("step %d: %+v, want %#x", r.steps, s, r.next)
	case size > 0:
		at := r.extend(r.x[in.Rs1] + uint64(in.Imm))
		if s.Memory != at || s.Before != r.word(at&^7) {
			r.t.Fatalf("step %d: %+v, want %#x, %#x", r.steps, s, at, r.word(at&^7))
		}
		if in.Op[0] == 's' {
			for i := range uint64(size) {
				r.memory[at+i] = byte(r.x[in.Rs2] >> (8 * i))
			}
			break
		}
		shift := 64 - 8*size
		if result = r.word(at) << shift >> shift; in.Op[len(in.Op)-1] != 'u' {
			result = uint64(int64(r.word(at)<<shift) >> shift)
		}
	case in.Op == "lui":
		result = uint64(in.Imm)
	case in.Op == "jal":
		result, next = next, uint64(in.Imm)
	case in.Op == "jalr":
		result, next = next, r.extend(r.x[in.Rs1]+uint64(in.Imm))&^1
	case in.Op == "beq" && s.A == s.B, in.Op == "bne" && s.A != s.B, in.Op == "bltu" && s.A < s.B, in.Op == "bgeu" && s.A >= s.B,
		in.Op == "blt" && int64(s.A) < int64(s.B), in.Op == "bge" && int64(s.A) >= int64(s.B):
		next = uint64(in.Imm)
	case in.Op == "ecall":
		if want := (riscv.Call{Number: r.x[17], Arguments: [2]uint64{r.x[10], r.x[11]}, Results: s.Call.Results}); *s.Call != want {
			r.t.Fatalf("step %d: %+v, want %+v", r.steps, *s.Call, want)
		}
		if r.x[10], r.x[11] = s.Call.Results[0], s.Call.Results[1]; s.Call.Number == call.Input {
			for i, b := range r.input {
				r.memory[r.x[10]+uint64(i)] = b
			}
		}
	}
	if (in.Op == "ecall") != (s.Call != nil) || s.A != r.x[in.Rs1] || s.B != r.x[in.Rs2] || s.Next != next || s.Result != result || s.Memory != 0 && s.After != r.word(s.Memory&^7) {
		r.t.Fatalf("step %d: %+v of %+v, want next %#x, result %#x, registers %x", r.steps, s, in, next, result, r.x)
	}
	r.next = next
	r.x[in.Rd] = result
}

// sameTraced runs a guest without and with a trace, which must not differ, and passes the steps to step.
func sameTraced(t *testing.T, p *riscv.Program, o riscv.Options, step func(riscv.Step)) {
	t.Helper()
	var out, again bytes.Buffer
	o.Stdout = &out
	plain, err := riscv.Run(t.Context(), p, o)
	steps := uint64(0)
	o.Stdout, o.Trace = &again, func(s riscv.Step) {
		steps++
		step(s)
	}
	golden.Equal(t, "outcome", outcomeOf(plain, err), outcomeOf(riscv.Run(t.Context(), p, o)))
	golden.Equal(t, "standard output", out.String(), again.String())
	golden.Equal(t, "steps", plain.Cycles, steps)
}

// TestTrace: the steps of a traced run take what those before them have left in registers and memory, and execute the
// instructions of the table. Its results are those of a run without a trace.
func TestTrace(t *testing.T) {
	for _, o := range suite(t) {
		t.Run(o.name, func(t *testing.T) {
			isa, raw, options := o.isa, slices.Clone(o.raw), o.options()
			if o.name == "rv64gc/rv64uc-rvc" {
				isa = riscv.RV64IMC()
				raw[48] = 1 // of the flags only that of C: the program uses no floating point
			}
			p := must.Get(riscv.Load(raw, isa))(t)
			step := func(riscv.Step) {}
			if *isa != *riscv.RV64GC() && !options.Misaligned {
				step = newReplay(t, p, nil).step
			}
			sameTraced(t, p, options, step)
		})
	}
	t.Run("calls", func(t *testing.T) {
		// The name of the section, then twice the input, of which the output is the first eight bytes, then the last.
		input := []byte("the input that the guest reads")
		words := slices.Concat(number(10, dataAt), number(11, 4), own(call.Begin), own(call.Input), own(call.Input),
			[]uint32{rv.I(rv.OpLoad, 3, 5, 10, 0), rv.R(rv.OpReg, 0, 0, 6, 10, 11), rv.I(rv.OpLoad, 4, 6, 6, -1), rv.Lui(7, dataAt)},
			[]uint32{rv.S(rv.OpStore, 3, 7, 5, 8), rv.S(rv.OpStore, 0, 7, 6, 16), rv.Addi(10, 7, 8), rv.Addi(11, 0, 9)},
			own(call.Commit), own(call.End), system(exit, 0))
		p := must.Get(riscv.Load(code(words, []byte("part")), riscv.RV64IM()))(t)
		r := newReplay(t, p, input)
		var calls []riscv.Call
		sameTraced(t, p, riscv.Options{Input: input}, func(s riscv.Step) {
			if r.step(s); s.Call != nil {
				calls = append(calls, *s.Call)
			}
		})
		at, n := calls[1].Results[0], uint64(len(input))
		golden.Equal(t, "calls", []riscv.Call{
			{Number: call.Begin, Arguments: [2]uint64{dataAt, 4}, Results: [2]uint64{dataAt, 4}},
			{Number: call.Input, Arguments: [2]uint64{dataAt, 4}, Results: [2]uint64{at, n}},
			{Number: call.Input, Arguments: [2]uint64{at, n}, Results: [2]uint64{at, n}},
			{Number: call.Commit, Arguments: [2]uint64{dataAt + 8, 9}, Results: [2]uint64{0, 9}},
			{Number: call.End, Arguments: [2]uint64{0, 9}, Results: [2]uint64{0, 9}},
			{Number: exit, Arguments: [2]uint64{0, 9}, Results: [2]uint64{0, 9}},
		}, calls)
		var last riscv.Step
		more := must.Get(riscv.Load(code(slices.Concat(number(10, dataAt), number(11, 1<<30), own(call.Commit)), nil), riscv.RV64IM()))(t)
		sameTraced(t, more, riscv.Options{}, func(s riscv.Step) { last = s })
		golden.Equal(t, "a call that the machine refuses", true, last.Call.Refused)
		golden.Equal(t, "output", "the inpus", string(must.Get(riscv.Run(t.Context(), p, riscv.Options{Input: input}))(t).Output))
	})
}

// TestTraceOfThreads: a trace does not change when threads take turns, and what the clock says.
func TestTraceOfThreads(t *testing.T) {
	testsize.Full(t)
	_, p := guest(t, "guest")
	sameTraced(t, p, riscv.Options{Args: []string{"2"}, Input: []byte("some input")}, func(riscv.Step) {})
}
