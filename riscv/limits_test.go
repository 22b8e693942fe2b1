package riscv_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// TestLimits: what a guest asks for beyond a limit it gets in part, or is refused, and the host takes no more.
func TestLimits(t *testing.T) {
	const most = 1 << 26 // bytes of output
	exit := system(93)
	begin := func(n int64) []uint32 { return slices.Concat(number(10, dataAt), number(11, n), own(call.Begin)) }
	commit := func(n int64) []uint32 {
		return slices.Concat([]uint32{rv.Addi(10, 6, 0)}, number(11, n), own(call.Commit))
	}
	mapped := slices.Concat(system(222, 0, most, 3, 0x22), []uint32{rv.Addi(6, 10, 0)})
	for name, test := range map[string]struct {
		words []uint32
		data  string
		exit  int
		kind  riscv.FaultKind // 0: it exits
	}{
		"random bytes":             {append(system(278, dataAt, 1<<40), rv.I(rv.OpImm, 5, 10, 10, 8)), "", 1, 0},
		"bytes that are written":   {slices.Concat(mapped, []uint32{rv.Addi(5, 10, 0)}, system(64, 1, -1, 1<<40), []uint32{rv.I(rv.OpImm, 5, 10, 10, 20)}), "", 1, 0},
		"threads":                  {append(system(220, 0x10000), rv.B(4, 0, 10, -20), rv.Addi(17, 0, 94), rv.Ecall), "", 256 - 11, 0}, // exit_group
		"output":                   {slices.Concat(mapped, commit(most), commit(1)), "", 0, riscv.BadCall},
		"output at once":           {slices.Concat(mapped, commit(most+1)), "", 0, riscv.BadCall},
		"a wait, of a word":        {slices.Concat(number(5, -1), system(98, dataAt, 0, -1, 0)), "\xff\xff\xff\xff\x01", 0, riscv.Deadlock},
		"sections":                 {append(begin(1), rv.Jal(0, -28)), "a", 0, riscv.BadCall},
		"a section's name":         {begin(65), strings.Repeat("a", 65), 0, riscv.BadCall},
		"the longest name":         {append(begin(64), rv.Addi(10, 0, 0)), strings.Repeat("a", 64), 0, 0},
		"a name with a slash":      {begin(3), "a/b", 0, riscv.BadCall},
		"a name with a space":      {begin(3), "a b", 0, riscv.BadCall},
		"a name with an escape":    {begin(3), "a\x1bb", 0, riscv.BadCall},
		"a name beyond ASCII":      {begin(2), "é", 0, riscv.BadCall},
		"an input that is written": {slices.Concat(own(call.Input), []uint32{rv.S(rv.OpStore, 0, 10, 6, 0)}), "", 0, riscv.WildAccess},
		"an input that is code":    {slices.Concat(own(call.Input), []uint32{rv.I(rv.OpJalr, 0, 0, 10, 0)}), "", 0, riscv.WildJump},
	} {
		t.Run(name, func(t *testing.T) {
			p := must.Get(riscv.Load(code(slices.Concat(test.words, exit), []byte(test.data)), nil))(t)
			r, err := riscv.Run(t.Context(), p, riscv.Options{Input: []byte{0x13, 0, 0, 0}, CycleLimit: 100_000})
			golden.Equal(t, "kind", test.kind, kindOf(err))
			golden.Equal(t, "exit", test.exit, r.Exit)
		})
	}
	p := must.Get(riscv.Load(code(exit, nil), nil))(t)
	_, err := riscv.Run(t.Context(), p, riscv.Options{Args: []string{strings.Repeat("a", 4<<20)}})
	golden.Equal(t, "arguments", riscv.BadCall, kindOf(err))
	_, err = riscv.Run(t.Context(), p, riscv.Options{Args: make([]string, 1_500_000)})
	golden.Equal(t, "arguments, whose pointers are more than the stack", riscv.BadCall, kindOf(err))
}

// TestSectionsOfFunctions: many sections of many functions do not take more memory than a guest may.
func TestSectionsOfFunctions(t *testing.T) {
	testsize.Full(t)
	const functions, sections, name = 50_000, 50, 0x2000_0000
	var labels []label
	for i := range functions {
		labels = append(labels, label{"f", 2, codeAt + uint64(4*i)})
	}
	section := slices.Concat(number(10, name), number(11, 1), own(call.Begin), slices.Repeat([]uint32{rv.Nop}, functions), own(call.End))
	next := slices.Concat(number(5, name), []uint32{rv.I(rv.OpLoad, 0, 6, 5, 0), rv.Addi(6, 6, 1), rv.S(rv.OpStore, 0, 5, 6, 0), rv.Addi(8, 8, -1), rv.B(0, 8, 0, 8)})
	loop := slices.Concat(section, next)
	words := slices.Concat(number(8, sections), loop, []uint32{rv.Jal(0, -4*int32(len(loop)))}, system(exitGroup, 0))
	raw := withSymbols(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(words...)}, rv.Segment{At: name, Flags: 6, Data: []byte{'A'}}), labels...)
	r, err := riscv.Run(t.Context(), must.Get(riscv.Load(raw, nil))(t), riscv.Options{})
	golden.Equal(t, "kind", riscv.OutOfMemory, kindOf(err))
	golden.Contains(t, errorText(err), "counts of functions in all sections; accepted: 2097152")
	golden.Within(t, "sections", 41, len(r.Sections), 43)
}

// cancels is a writer that cancels the run of the guest that writes to it.
type cancels func()

func (c cancels) Write(p []byte) (int, error) {
	c()
	return len(p), nil
}

// TestCancelled: a guest without end ends with its context.
func TestCancelled(t *testing.T) {
	p := must.Get(riscv.Load(code(append(system(64, 1, dataAt, 1), rv.Jal(0, 0)), nil), nil))(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := riscv.Run(ctx, p, riscv.Options{Stdout: cancels(cancel), CycleLimit: 1 << 30})
	must.Fail(t, err, context.Canceled, "after %d cycles", r.Cycles)
	golden.Within(t, "cycles", 1, r.Cycles, 20_000_000)
}

// TestAddresses32: precompiles reach the upper half of the addresses of 32 bits.
func TestAddresses32(t *testing.T) {
	const at = 0x80000000
	text := rv.Text(slices.Concat([]uint32{rv.Lui(11, at), rv.Lui(10, at)}, own(call.Own), []uint32{
		rv.R(rv.OpReg, 4, 0, 12, 10, 11), rv.R(rv.OpReg, 3, 0, 12, 0, 12), // a2 is 1 if what it returned is not its second argument, as a register has it
		rv.I(rv.OpLoad, 4, 10, 10, 1), rv.R(rv.OpReg, 0, 0, 10, 10, 12),
	}, system(93))...)
	p := must.Get(riscv.Load(rv.ELF(32, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: text}, rv.Segment{At: at, Flags: 6, Data: []byte{6, 0}}), nil))(t)
	one := riscv.Precompile{Name: "one", Number: call.Own, Do: func(g riscv.Guest, args [6]uint64) (uint64, error) {
		var b [1]byte
		if err := g.Read(uint64(uint32(args[1])), b[:]); err != nil {
			return 0, err
		}
		return uint64(uint32(args[0])), g.Write(uint64(uint32(args[0]))+1, []byte{b[0] + 1})
	}}
	r := must.Get(ended(riscv.Run(t.Context(), p, riscv.Options{Stdout: io.Discard, Precompiles: []riscv.Precompile{one}})))(t)
	golden.Equal(t, "exit", 7, r.Exit)
}
