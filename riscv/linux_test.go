package riscv_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// Linux calls that are not implemented, and more that are.
const (
	statfs, brk, writev, openat, ppoll = 43, 214, 66, 56, 73
	noCall                             = 256 - 38 // what a program ends with that ends with the error ENOSYS
)

// TestMissingCalls: what there is not returns ENOSYS, the program goes on, and the result tells of it; a bare program is
// ended by the name of the call.
func TestMissingCalls(t *testing.T) {
	r := ran(t, riscv.Options{}, system(statfs), system(1234), system(statfs), system(exitGroup))
	golden.Equal(t, "exit", noCall, r.Exit)
	golden.Equal(t, "missing", []riscv.MissingCall{{Number: statfs, Name: "statfs (43)", Times: 2}, {Number: 1234, Name: "call 1234", Times: 1}}, r.Missing)
	golden.Equal(t, "of a process", []riscv.MissingCall{{Number: clone, Name: "clone (220)", Times: 1}}, ran(t, riscv.Options{}, system(clone), system(exitGroup)).Missing)
	golden.Equal(t, "of another futex", noCall, ran(t, riscv.Options{}, system(futex, dataAt, 6), system(exitGroup)).Exit)

	var many []uint32
	for number := range int64(200) {
		many = append(many, system(1000+number)...)
	}
	golden.Equal(t, "told apart", 64, len(ran(t, riscv.Options{}, many, system(exitGroup, 0)).Missing))

	bare := rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(system(statfs)...)})
	_, err := riscv.Run(t.Context(), must.Get(riscv.Load(bare, riscv.RV64IM()))(t), riscv.Options{})
	golden.Equal(t, "kind", riscv.UnknownCall, kindOf(err))
	golden.Contains(t, err.Error(), "unknown call at 0x10004 after 2 cycles: statfs (43)")
}

// TestHeap: brk moves the end of the heap over what is free, and what it leaves is gone.
func TestHeap(t *testing.T) {
	const heap, page = dataAt + 1<<16, 4096 // behind the segments
	store := func(at int64) []uint32 { return put(at, 5) }
	load := func(at int64) []uint32 {
		return slices.Concat(number(5, at), []uint32{rv.I(rv.OpLoad, 3, 10, 5, 0)})
	}
	pages := []uint32{rv.I(rv.OpImm, 5, 10, 10, 12), rv.Addi(10, 10, -heap>>12)} // of a0, beyond where the heap begins
	for name, test := range map[string]struct {
		words []uint32
		exit  int
		kind  riscv.FaultKind
	}{
		"begins behind the segments":  {slices.Concat(system(brk, 0), pages), 0, 0},
		"moves":                       {slices.Concat(system(brk, heap+3*page+1), pages), 3, 0},
		"is kept":                     {slices.Concat(system(brk, heap+3*page+1), system(brk, 0), pages), 3, 0},
		"is zero and written to":      {slices.Concat(system(brk, heap+page), load(heap), store(heap), load(heap)), 5, 0},
		"has whole pages":             {slices.Concat(system(brk, heap+1), store(heap+page-8), load(heap+page-8)), 5, 0},
		"ends":                        {slices.Concat(system(brk, heap+page), store(heap+page)), 0, riscv.WildAccess},
		"goes back":                   {slices.Concat(system(brk, heap+page), store(heap), system(brk, heap), load(heap)), 0, riscv.WildAccess},
		"is zero again":               {slices.Concat(system(brk, heap+page), store(heap), system(brk, heap), system(brk, heap+page), load(heap)), 0, 0},
		"does not reach the segments": {slices.Concat(system(brk, heap-page), pages), 0, 0},
		"stays below all mappings":    {slices.Concat(system(222, heap+4*page, page, 3, 0x22), system(brk, heap+5*page), pages), 0, 0},
		"stays below all addresses":   {slices.Concat(number(5, -1), system(brk, -1), pages), 0, 0},
		"takes what it touches":       {slices.Concat(system(brk, heap+1<<30), number(10, 7)), 7, 0},
		"is not more than the limit":  {slices.Concat(system(brk, heap+1<<30), number(5, heap), number(6, page), []uint32{rv.S(rv.OpStore, 3, 5, 6, 0), rv.R(rv.OpReg, 0, 0, 5, 5, 6), rv.Jal(0, -8)}), 0, riscv.OutOfMemory},
	} {
		t.Run(name, func(t *testing.T) {
			p := must.Get(riscv.Load(code(slices.Concat(test.words, system(exitGroup)), nil), nil))(t)
			r, err := riscv.Run(t.Context(), p, riscv.Options{MemoryLimit: 1 << 20, CycleLimit: 10_000})
			golden.Equal(t, "kind", test.kind, kindOf(err))
			golden.Equal(t, "exit", test.exit, r.Exit)
		})
	}
}

// TestBareHeap: a bare program has no heap.
func TestBareHeap(t *testing.T) {
	text := rv.Text(slices.Concat(system(brk, 0x8000), system(exit))...)
	for xlen, isa := range map[int]*riscv.ISA{64: riscv.RV64IM(), 32: nil} {
		p := must.Get(riscv.Load(rv.ELF(xlen, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: text}), isa))(t)
		golden.Equal(t, "exit", 0, must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t).Exit)
	}
}

// TestLimitsOfCalls: parts, paths and lists of descriptors have the limits of Linux, and the host takes no more for them.
func TestLimitsOfCalls(t *testing.T) {
	const end = dataAt + 1<<16 // of what is mapped
	parts := slices.Concat(system(222, 0, 1<<21, 3, 0x22), number(5, dataAt), []uint32{rv.S(rv.OpStore, 3, 5, 10, 0)}, put(dataAt+8, 1<<21))
	for name, test := range map[string]struct {
		words []uint32
		exit  int // the low byte of what the call returns
	}{
		"parts":              {system(writev, 1, dataAt, 1025), 256 - 22},
		"parts nowhere":      {system(writev, 1, 8, 1), 256 - 14},
		"a part nowhere":     {slices.Concat(put(dataAt, 8), put(dataAt+8, 1), system(writev, 1, dataAt, 1)), 256 - 14},
		"bytes of parts":     {slices.Concat(parts, system(writev, 1, dataAt, 1), []uint32{rv.I(rv.OpImm, 5, 10, 10, 20)}), 1},
		"no parts":           {system(writev, 1, dataAt, 0), 0},
		"descriptors":        {system(ppoll, dataAt, 1025), 256 - 22},
		"a path nowhere":     {system(openat, 0, 8), 256 - 14},
		"a path without end": {slices.Concat(put(end-8, 0x6161616161616161), system(openat, 0, end-8)), 256 - 14},
		"a longest path":     {slices.Concat(number(5, dataAt), number(6, 'a'), number(7, 4096), []uint32{rv.S(rv.OpStore, 0, 5, 6, 0), rv.Addi(5, 5, 1), rv.Addi(7, 7, -1), rv.B(1, 7, 0, -12)}, system(openat, 0, dataAt)), 256 - 36},
		"a place for 1 byte": {system(17, dataAt, 1), 256 - 34},
	} {
		t.Run(name, func(t *testing.T) {
			p := must.Get(riscv.Load(code(slices.Concat(test.words, system(exitGroup)), []byte{0}), nil))(t)
			r, err := riscv.Run(t.Context(), p, riscv.Options{CycleLimit: 100_000})
			golden.Equal(t, "kind", riscv.FaultKind(0), kindOf(err))
			golden.Equal(t, "exit", test.exit, r.Exit)
		})
	}
}

// callWith returns a program that makes a call twice.
func callWith(number uint64, args [6]uint64) []byte {
	var data []byte
	for _, v := range append(args[:], number) {
		for i := range 8 {
			data = append(data, byte(v>>(8*i)))
		}
	}
	words := []uint32{rv.Lui(5, dataAt)}
	for i := range uint32(6) {
		words = append(words, rv.I(rv.OpLoad, 3, 10+i, 5, int32(8*i)))
	}
	words = append(words, rv.I(rv.OpLoad, 3, 17, 5, 48), rv.Ecall)
	return code(slices.Concat(words, words[1:], system(exitGroup, 0)), data)
}

// TestAnyCall: no call panics or takes more than the limits, whatever its arguments are, and it does the same again.
func TestAnyCall(t *testing.T) {
	values := []uint64{0, 1, 3, 8, dataAt, dataAt + 1<<16 - 4, 1 << 38, 1<<63 - 1, 1 << 63, 1<<64 - 1, 1<<64 - 100}
	for number := range uint64(512) {
		for i, v := range testsize.Pick(values[3:5], values, values) {
			args := [6]uint64{v, v, v, v, v, v}
			anyCall(t, number, args)
			args[0] = values[(i+int(number))%len(values)]
			args[1], args[3] = dataAt, 8
			anyCall(t, number, args)
		}
	}
}

func anyCall(t *testing.T, number uint64, args [6]uint64) {
	t.Helper()
	p := must.Get(riscv.Load(callWith(number, args), nil))(t)
	o := riscv.Options{Input: []byte("input"), MemoryLimit: 1 << 20, CycleLimit: 1000}
	var outcomes [2]string
	for i := range outcomes {
		var out bytes.Buffer
		o.Stdout = &out
		r, err := riscv.Run(t.Context(), p, o)
		if r.Cycles > o.CycleLimit || r.Pages > 1<<8 || out.Len() > 4<<20 {
			t.Errorf("call %d of %x: %d cycles, %d pages, %d bytes", number, args, r.Cycles, r.Pages, out.Len())
		}
		outcomes[i] = fmt.Sprint(r.Exit, r.Cycles, r.Missing, err, out.String())
	}
	golden.Equal(t, fmt.Sprintf("call %d of %x", number, args), outcomes[0], outcomes[1])
}

// FuzzCall: as TestAnyCall, of any arguments.
func FuzzCall(f *testing.F) {
	f.Add(uint64(brk), uint64(dataAt), uint64(0), uint64(0), uint64(0), uint64(0), uint64(0))
	f.Add(uint64(222), uint64(0), uint64(4096), uint64(3), uint64(0x22), uint64(0), uint64(0))
	f.Add(uint64(clone), uint64(0x3d0f00), uint64(dataAt), uint64(dataAt), uint64(dataAt), uint64(dataAt), uint64(0))
	f.Fuzz(func(t *testing.T, number, a, b, c, d, e, g uint64) {
		anyCall(t, number%512, [6]uint64{a, b, c, d, e, g})
	})
}

// TestSignals: a signal that is ignored is passed over, and any other one ends the guest by its name.
func TestSignals(t *testing.T) {
	const kill, tkill, tgkill, sigaction, process = 129, 130, 131, 134, 1000
	const abort, user, child, urgent = 6, 10, 17, 23
	handles := func(handler, signal int64) []uint32 {
		return slices.Concat(put(dataAt, handler), system(sigaction, signal, dataAt, 0, 8))
	}
	for name, test := range map[string]struct {
		words []uint32
		exit  int
		says  string
	}{
		"of the process":          {system(kill, process, abort), 0, "aborted at 0x1000c after 4 cycles: by its signal SIGABRT (6)"},
		"of a thread":             {system(tkill, process, user), 0, "by its signal SIGUSR1 (10)"},
		"of a thread of it":       {system(tgkill, process, process, 64), 0, "by its signal 64"},
		"with a handler":          {slices.Concat(handles(0x12345, user), system(kill, process, user)), 0, "SIGUSR1 (10), which its handler at 0x12345 does not get"},
		"a child's, with one":     {slices.Concat(handles(0x12345, child), system(kill, process, child)), 0, "SIGCHLD (17)"},
		"a child's":               {system(kill, process, child), 0, ""},
		"to give way, with one":   {slices.Concat(handles(0x12345, urgent), system(kill, process, urgent)), 0, ""},
		"that is ignored":         {slices.Concat(handles(1, user), system(kill, process, user)), 0, ""},
		"that is no more ignored": {slices.Concat(handles(1, user), handles(0, user), system(kill, process, user)), 0, "SIGUSR1 (10)"},
		"none":                    {system(kill, process, 0), 0, ""},
		"beyond all":              {system(kill, process, 65), 256 - 22, ""},
		"to another process":      {system(kill, 7, abort), 256 - 3, ""},
		"to another thread":       {system(tgkill, process, process+1, abort), 256 - 3, ""},
		"the last, handled":       {handles(1, 9), 256 - 22, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := must.Get(riscv.Load(code(slices.Concat(test.words, system(exitGroup)), make([]byte, 64)), nil))(t)
			r, err := ended(riscv.Run(t.Context(), p, riscv.Options{}))
			golden.Equal(t, "exit", test.exit, r.Exit)
			golden.Equal(t, "fault", test.says != "", err != nil)
			golden.Contains(t, errorText(err), test.says)
		})
	}
}

// TestRequeue: a thread that waits at an address is woken at the other one that it was moved to, and only by bits that it
// waits for.
func TestRequeue(t *testing.T) {
	const wake, requeue, waitBits, wakeBits, from, to = 1, 3, 9, 10, dataAt, dataAt + 8
	child := slices.Concat(system(futex, from, waitBits, 7, 0, 0, 4), system(exit, 0))
	parent := func(parts ...[]uint32) []uint32 {
		return slices.Concat(system(clone, threadFlags), []uint32{rv.B(1, 10, 0, int32(4+4*len(child)))}, child, system(yield), slices.Concat(parts...), system(exitGroup))
	}
	moved := system(futex, from, requeue, 0, 1, to)
	for name, test := range map[string]struct {
		words []uint32
		exit  int
	}{
		"moved":               {parent(moved), 1},
		"gone from there":     {parent(moved, system(futex, from, wake, 1)), 0},
		"woken there":         {parent(moved, system(futex, to, wake, 1)), 1},
		"woken by other bits": {parent(system(futex, from, wakeBits, 1, 0, 0, 3)), 0},
		"woken by its bits":   {parent(system(futex, from, wakeBits, 1, 0, 0, 6)), 1},
		"woken by no bits":    {parent(system(futex, from, wakeBits, 1, 0, 0, 0)), 256 - 22},
		"none is moved":       {parent(system(futex, from, requeue, 0, 0, to)), 0},
		"moved if it is so":   {parent(slices.Concat(system(futex, from, 4, 0, 1, to, 7))), 1},
		"not so":              {parent(slices.Concat(system(futex, from, 4, 0, 1, to, 8))), 256 - 11},
	} {
		golden.Equal(t, name, test.exit, ran(t, riscv.Options{}, test.words).Exit)
	}
}
