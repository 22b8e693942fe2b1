package zkvm

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// TestFence: a fence does nothing, whatever instructions before it left in the place of register 0.
func TestFence(t *testing.T) {
	const fence = 0x0330000f // rw, rw
	for name, words := range map[string][]uint32{
		"behind a sum":    {rv.Addi(0, 0, 5), fence, fence},
		"behind a return": {rv.Jal(1, 8), rv.Jal(0, 12), rv.I(rv.OpJalr, 0, 0, 1, 0), rv.Addi(0, 0, 0), fence},
	} {
		t.Run(name, func(t *testing.T) {
			text := slices.Concat(words, []uint32{rv.Addi(a7, 0, numberHalt), rv.Addi(a0, 0, 0), rv.Ecall})
			raw := rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(text...)})
			x := ran(t, must.Get(Load(raw))(t), nil)
			must.Do(t, check(t, x))
			follow(t, raw, claim(t, x))
		})
	}
}

// TestWrappedBase: loads, stores and jumps whose address is a sum beyond 2^64 are refused before the tables are filled.
func TestWrappedBase(t *testing.T) {
	for _, test := range []struct {
		name string
		word uint32 // with -8 in s0
	}{
		{"ld", rv.I(rv.OpLoad, 3, s1, s0, 16)},
		{"lbu", rv.I(rv.OpLoad, 4, s1, s0, 16)},
		{"sd", rv.S(rv.OpStore, 3, s0, s1, 16)},
		{"sb", rv.S(rv.OpStore, 0, s0, s1, 16)},
		{"jalr", rv.I(rv.OpJalr, 0, 0, s0, 0x110)}, // to the instruction behind it
	} {
		data, code := rv.Segment{At: 0, Flags: 6, Data: make([]byte, 64)}, rv.Segment{At: codeAt, Flags: 5}
		segments := []rv.Segment{data, code}
		if test.name == "jalr" {
			code.At = 0x100
			segments = []rv.Segment{code}
		}
		segments[len(segments)-1].Data = rv.Text(rv.Addi(s0, 0, -8), test.word, rv.Addi(a7, 0, numberHalt), rv.Ecall)
		p := must.Get(Load(rv.ELF(64, code.At, segments...)))(t)
		_, r, err := p.run(t.Context(), newMachine(rv64), riscv.Options{})
		if !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), "adds to the base 0xfffffffffffffff8") || r.Cycles != 2 {
			t.Errorf("%s: %v after %d cycles", test.name, err, r.Cycles)
		}
	}
	// A base that is far away and leads nowhere stays the machine's fault.
	p := assembled(t, []uint32{rv.Addi(s0, 0, -8), rv.I(rv.OpJalr, 0, 0, s0, 0)})
	_, _, err := p.run(t.Context(), newMachine(rv64), riscv.Options{})
	if f, ok := errors.AsType[*riscv.Fault](err); !ok || f.Kind != riscv.WildJump {
		t.Errorf("a jump to nowhere: %v", err)
	}
}

// TestMoreThanMachine: the tables accept marks without a name, and reads of the input before the call for it, as docs/zkvm.md says.
// The machine ends both runs.
func TestMoreThanMachine(t *testing.T) {
	for name, words := range map[string][]uint32{
		"a mark":   calling(call.Begin),
		"an input": {rv.Addi(s0, 0, 1), rv.I(rv.OpImm, 1, s0, s0, 46), rv.I(rv.OpLoad, 3, s1, s0, 0)},
	} {
		if _, _, err := assembled(t, words).run(t.Context(), newMachine(rv64), riscv.Options{Input: counting(8)}); err == nil {
			t.Errorf("%s: the machine accepts it", name)
		}
	}
	must.Do(t, check(t, newScript().put(a7, call.Begin).do(decoded{op: codeCall}, step{}).claim(t).execution))
	s := newScript()
	s.input = counting(8)
	const content = 0x0807060504030201
	load := decoded{op: codeWords + codeLoad, rd: result, rs1: left}
	must.Do(t, check(t, s.put(left, riscv.InputAddress).do(load, step{address: riscv.InputAddress, result: content, stored: content}).claim(t).execution))
}

// TestMemoryLimit: a run that touches more pages than a form has rows for ends there. It would take 20 kB for each page.
func TestMemoryLimit(t *testing.T) {
	testsize.Full(t)
	const zeros = 1 << 30
	words := []uint32{rv.Lui(s0, zeros), rv.Lui(s1, pageBytes)}
	for range 100 {
		words = append(words, rv.S(rv.OpStore, 3, s0, s1, 0), rv.R(rv.OpReg, 0, 0, s0, s0, s1))
	}
	words = append(words, rv.Jal(0, -800))
	p := must.Get(Load(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(words...)}, rv.Segment{At: zeros, Flags: 6, Memory: 1 << 35})))(t)
	_, err := p.execute(t.Context(), newMachine(rv64), nil, 0)
	if f, ok := errors.AsType[*riscv.Fault](err); !ok || f.Kind != riscv.OutOfMemory {
		t.Error(err)
	}
}
