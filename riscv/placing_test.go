package riscv_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// TestSharedPage: of segments that share a page each has its own rights, to the byte.
func TestSharedPage(t *testing.T) {
	const (
		constants = codeAt + 0x800 // read alone
		data      = codeAt + 0x808
		next      = codeAt + 0x1000
		rest      = data + 0x900 // in the next page: read alone again
	)
	load := func(at int64) []uint32 {
		return slices.Concat(number(5, at), []uint32{rv.I(rv.OpLoad, 3, 10, 5, 0)})
	}
	commit := func(at, n int64) []uint32 { return slices.Concat(number(10, at), number(11, n), own(call.Commit)) }
	for name, test := range map[string]struct {
		words []uint32
		exit  int
		kind  riscv.FaultKind
	}{
		"constants are read":       {load(constants), 7, 0},
		"constants are kept":       {put(constants, 5), 0, riscv.WildAccess},
		"data are read":            {load(data), 9, 0},
		"data are written":         {slices.Concat(put(data, 5), load(data)), 5, 0},
		"data of the next page":    {slices.Concat(put(next, 5), load(next), put(next, 6), load(next)), 6, 0},
		"data are no code":         {slices.Concat(number(5, data), []uint32{rv.I(rv.OpJalr, 0, 0, 5, 0)}), 0, riscv.WildJump},
		"code is kept":             {put(codeAt, 5), 0, riscv.WriteToCode},
		"code beside data is kept": {slices.Concat(put(data, 5), put(codeAt, 5)), 0, riscv.WriteToCode},
		"across from data":         {slices.Concat(number(5, rest-4), []uint32{rv.S(rv.OpStore, 3, 5, 6, 0)}), 0, riscv.WildAccess},
		"across to data":           {slices.Concat(number(5, data-4), []uint32{rv.S(rv.OpStore, 3, 5, 6, 0)}), 0, riscv.WildAccess},
		"a read across":            {slices.Concat(number(5, data-4), []uint32{rv.I(rv.OpLoad, 3, 10, 5, 0)}, []uint32{rv.I(rv.OpImm, 5, 10, 10, 32)}), 9, 0},
		"all at once":              {slices.Concat(commit(codeAt, 0x2000), number(10, 3)), 3, 0},
		"nothing behind":           {load(codeAt + 0x2000), 0, riscv.WildAccess},
	} {
		t.Run(name, func(t *testing.T) {
			text := rv.Text(slices.Concat(test.words, system(exit))...)
			raw := rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: text}, rv.Segment{At: constants, Flags: 4, Data: []byte{7, 0, 0, 0, 0, 0, 0, 0}},
				rv.Segment{At: data, Flags: 6, Data: []byte{9}, Memory: 0x900}, rv.Segment{At: rest, Flags: 4, Data: []byte{1}})
			p := must.Get(riscv.Load(raw, riscv.RV64IM()))(t)
			r, err := riscv.Run(t.Context(), p, riscv.Options{Misaligned: true})
			golden.Equal(t, "kind", test.kind, kindOf(err))
			golden.Equal(t, "exit", test.exit, r.Exit)
		})
	}
	// Between two bytes that may be written one may not.
	raw := rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(slices.Concat(number(5, dataAt), []uint32{rv.S(rv.OpStore, 3, 5, 6, 0)})...)},
		rv.Segment{At: dataAt, Flags: 6, Data: []byte{1}}, rv.Segment{At: dataAt + 1, Flags: 4, Data: []byte{1}}, rv.Segment{At: dataAt + 2, Flags: 6, Data: []byte{1}})
	_, err := riscv.Run(t.Context(), must.Get(riscv.Load(raw, nil))(t), riscv.Options{})
	golden.Equal(t, "kind", riscv.WildAccess, kindOf(err))
}

// TestFullStack: the error of a program that runs out of its stack says so.
func TestFullStack(t *testing.T) {
	words := []uint32{rv.Addi(2, 2, -2032), rv.S(rv.OpStore, 3, 2, 6, 0), rv.Jal(0, -8)} // a call without end
	_, err := riscv.Run(t.Context(), must.Get(riscv.Load(code(words, nil), nil))(t), riscv.Options{CycleLimit: 1 << 20})
	golden.Equal(t, "kind", riscv.WildAccess, kindOf(err))
	golden.Contains(t, errorText(err), "; it is below the first thread's stack, which has 8388608 bytes")
	_, err = riscv.Run(t.Context(), must.Get(riscv.Load(code([]uint32{rv.S(rv.OpStore, 3, 0, 6, 0)}, nil), nil))(t), riscv.Options{})
	golden.Equal(t, "nowhere", "guest: wild access at 0x10000 after 0 cycles: writes 8 bytes at 0x0", errorText(err))
}

// TestMap: a program whose stack is in no segment gets it by Options.Map; segments stay what they are.
func TestMap(t *testing.T) {
	const top = codeAt - 0x400
	words := slices.Concat(number(2, top), []uint32{rv.Addi(6, 0, 5), rv.S(rv.OpStore, 2, 2, 6, -8), rv.I(rv.OpLoad, 2, 10, 2, -8)}, system(exit))
	for _, xlen := range []int{64, 32} {
		p := must.Get(riscv.Load(rv.ELF(xlen, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(words...)}), map[int]*riscv.ISA{64: riscv.RV64IM()}[xlen]))(t)
		run := func(ranges ...riscv.Range) (*riscv.Result, error) {
			return ended(riscv.Run(t.Context(), p, riscv.Options{Map: ranges}))
		}
		_, err := run()
		golden.Equal(t, "kind without", riscv.WildAccess, kindOf(err))
		golden.Contains(t, err.Error(), "writes 4 bytes at 0xfbf8; nothing is mapped there; map it with Options.Map (--map)")
		for _, ranges := range [][]riscv.Range{{{top - 8, top}}, {{0, 1 << 31}}, {{0, codeAt}, {0x8000, 1<<32 - 4096}}} {
			golden.Equal(t, "exit", 5, must.Get(run(ranges...))(t).Exit)
		}
		for says, r := range map[string]riscv.Range{
			"map[1]: addresses 0x1000 to 0x1000; accepted": {0x1000, 0x1000},
			"map[1]: addresses 0x2000 to 0x1000; accepted": {0x2000, 0x1000},
			"addresses 0x0 to 0xffffffffffffffff":          {0, 1<<64 - 1},
		} {
			_, err := run(riscv.Range{0, 1}, r)
			must.Fail(t, err, zkbench.ErrParams, "%s", says)
			golden.Contains(t, err.Error(), says)
		}
	}
	text := slices.Concat(number(5, codeAt), []uint32{rv.S(rv.OpStore, 2, 5, 6, 0)})
	p := must.Get(riscv.Load(rv.ELF(32, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(text...)}), nil))(t)
	_, err := riscv.Run(t.Context(), p, riscv.Options{Map: []riscv.Range{{0, 1<<32 - 4096}}})
	golden.Equal(t, "code is kept", riscv.WriteToCode, kindOf(err))
	at := slices.Concat(number(5, -8<<20), []uint32{rv.Addi(6, 0, 5), rv.S(rv.OpStore, 2, 5, 6, 0), rv.I(rv.OpLoad, 2, 10, 5, 0)}, system(exit))
	p = must.Get(riscv.Load(rv.ELF(32, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(at...)}), nil))(t)
	golden.Equal(t, "the upper half of 32 bits", 5, must.Get(ended(riscv.Run(t.Context(), p, riscv.Options{Map: []riscv.Range{{0, 1<<32 - 4096}}})))(t).Exit)
}

// TestPositionFree: a program that can be anywhere is loaded above address 0, with its entry and symbols.
func TestPositionFree(t *testing.T) {
	le := binary.LittleEndian
	text := rv.Text(slices.Concat([]uint32{0x00000517, rv.I(rv.OpImm, 5, 10, 10, 16)}, system(exitGroup))...) // auipc a0, 0
	flags := le.AppendUint64(le.AppendUint64(nil, 0x6ffffffb), 0x08000001)
	raw := rv.ELF(64, 0, rv.Segment{At: 0, Flags: 5, Data: text}, rv.Segment{At: 0x1000, Flags: 6, Data: flags}, rv.Segment{At: 0x1000, Flags: 6, Data: flags})
	raw[16] = 3      // ET_DYN
	raw[64+2*56] = 2 // PT_DYNAMIC
	raw = withSymbols(raw, label{"start", 2, 0})
	r := must.Get(ended(riscv.Run(t.Context(), must.Get(riscv.Load(raw, nil))(t), riscv.Options{})))(t)
	golden.Equal(t, "where it is", 1, r.Exit)
	golden.Equal(t, "function", "start", r.Functions[0].Name)
	le.PutUint64(raw[bytes.LastIndex(raw, flags)+8:], 1) // of both copies the dynamic segment has the last
	must.FailGet(riscv.Load(raw, nil))(t, zkbench.ErrMalformed, "a library")
}

// TestArchitecture: an instruction of another set is named with its extension, and with what the program was compiled for.
func TestArchitecture(t *testing.T) {
	attributes := func(arch string) []byte {
		list := append(append([]byte{4, 16, 5}, arch...), 0) // the stack's alignment, and the architecture
		file := append(binary.LittleEndian.AppendUint32([]byte{1}, uint32(5+len(list))), list...)
		all := append([]byte("riscv\x00"), file...)
		return append(binary.LittleEndian.AppendUint32([]byte{'A'}, uint32(4+len(all))), all...)
	}
	for name, test := range map[string]struct {
		word uint32
		isa  *riscv.ISA
		raw  []byte
		says string
	}{
		"vectors":            {0x0d00f057, nil, attributes("rv64gcv1p0"), "illegal instruction at 0x10000 after 0 cycles: 0xd00f057, of the extension V; accepted: RV64GC; the program is compiled for rv64gcv1p0"},
		"vectors are loaded": {0x02056007, nil, nil, "0x2056007, of the extension V; accepted: RV64GC"},
		"doubles":            {0x02a57553, riscv.RV64IM(), attributes("rv64gc"), "of the extension F; accepted: RV64IM; the program is compiled for rv64gc"},
		"atomics":            {rv.R(rv.OpAmo, 3, 0, 6, 5, 6), riscv.RV64IM(), nil, "of the extension A; accepted: RV64IM"},
		"compressed":         {0x00010001, riscv.RV64IM(), nil, "0x1, of the extension C; accepted: RV64IM"},
		"nothing":            {0, nil, attributes("a\x1bb"), "0x0; accepted: RV64GC; the program is compiled for ab"},
		"cut attributes":     {0, nil, attributes("rv64gc")[:20], "0x0; accepted: RV64GC"},
	} {
		t.Run(name, func(t *testing.T) {
			raw := withSections(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(test.word)}), section{kind: 0x70000003, data: test.raw}, section{kind: 3, data: []byte{0}})
			_, err := riscv.Run(t.Context(), must.Get(riscv.Load(raw, test.isa))(t), riscv.Options{})
			golden.Equal(t, "kind", riscv.IllegalInstruction, kindOf(err))
			golden.Contains(t, err.Error(), test.says)
		})
	}
}
