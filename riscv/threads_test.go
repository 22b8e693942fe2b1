package riscv_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// Numbers of Linux calls.
const (
	read, write, exit, exitGroup, setTID, futex, nanosleep, clock, yield, clone = 63, 64, 93, 94, 96, 98, 101, 113, 124, 220
	eventFD, epollCreate, epollWait                                             = 19, 20, 22
	threadFlags                                                                 = 0x10000
)

func ran(t *testing.T, o riscv.Options, words ...[]uint32) *riscv.Result {
	t.Helper()
	p := must.Get(riscv.Load(code(slices.Concat(words...), []byte{7}), nil))(t)
	return must.Get(ended(riscv.Run(t.Context(), p, o)))(t)
}

// put returns instructions that store a number at an address of the data.
func put(at, v int64) []uint32 {
	return slices.Concat(number(5, at), number(6, v), []uint32{rv.S(rv.OpStore, 3, 5, 6, 0)})
}

// passes returns how much of the guest's time passes between two readings of the clock, in ns.
func passes(t *testing.T, words []uint32) uint64 {
	t.Helper()
	r := ran(t, riscv.Options{}, system(clock, 1, dataAt+64), words, system(clock, 1, dataAt+80), number(10, dataAt+64), number(11, 32), own(call.Commit), system(exitGroup, 0))
	le := binary.LittleEndian
	at := func(i int) uint64 { return le.Uint64(r.Output[i:])*1e9 + le.Uint64(r.Output[i+8:]) }
	return at(16) - at(0)
}

// TestTime: it passes when the clock is read, with each ten million cycles, and to what all threads wait for.
func TestTime(t *testing.T) {
	const step = 1_000
	golden.Equal(t, "between readings", uint64(step), passes(t, nil))
	spin := []uint32{rv.Lui(7, 5<<20), rv.Addi(7, 7, -1), rv.B(1, 7, 0, -4)} // some 10.5 million cycles
	golden.Equal(t, "in a slice", uint64(step+10_000_000), passes(t, spin))
	golden.Equal(t, "asleep", uint64(step+3_000_000_004), passes(t, slices.Concat(put(dataAt, 3), put(dataAt+8, 4), system(nanosleep, dataAt, 0))))
	golden.Equal(t, "in epoll", uint64(step+5_000_000), passes(t, slices.Concat(system(epollCreate, 0), system(epollWait, 3, dataAt, 1, 5))))

	// Time has an end, at which none wakes.
	words := slices.Concat(put(dataAt, 1<<30), number(7, 20), system(nanosleep, dataAt, 0), []uint32{rv.Addi(7, 7, -1)})
	words = append(words, rv.B(1, 7, 0, -4*int32(len(system(nanosleep, dataAt, 0))+1)))
	_, err := riscv.Run(t.Context(), must.Get(riscv.Load(code(words, nil), nil))(t), riscv.Options{})
	golden.Equal(t, "kind", riscv.Deadlock, kindOf(err))
}

// TestEvents: what is written to the eventfd adds up.
func TestEvents(t *testing.T) {
	r := ran(t, riscv.Options{}, system(eventFD, 0, 0), put(dataAt, 2), system(write, 4, dataAt, 8), put(dataAt, 3), system(write, 4, dataAt, 8), system(read, 4, dataAt, 8), number(5, dataAt), []uint32{rv.I(rv.OpLoad, 3, 10, 5, 0)}, system(exitGroup))
	golden.Equal(t, "sum", 5, r.Exit)
}

// TestJoin: who waits for the end of a thread goes on then.
func TestJoin(t *testing.T) {
	child := slices.Concat(system(setTID, dataAt), system(exit, 0))
	parent := slices.Concat(system(futex, dataAt, 0, 7, 0), system(exitGroup, 3))
	r := ran(t, riscv.Options{}, system(clone, threadFlags), []uint32{rv.B(1, 10, 0, int32(4+4*len(child)))}, child, parent)
	golden.Equal(t, "exit", 3, r.Exit)
}

// TestSectionOfThread: what a thread does is not in the section in which it was begun.
func TestSectionOfThread(t *testing.T) {
	const nops = 1000
	child := slices.Concat(slices.Repeat([]uint32{rv.Nop}, nops), system(exit, 0))
	r := ran(t, riscv.Options{}, put(dataAt, 'a'), number(10, dataAt), number(11, 1), own(call.Begin), system(clone, threadFlags),
		[]uint32{rv.B(1, 10, 0, int32(4+4*len(child)))}, child, system(yield), own(call.End), system(exitGroup, 0))
	golden.Equal(t, "section", "a", r.Sections[0].Name)
	golden.Within(t, "cycles", 8, r.Sections[0].Cycles, 20)
	golden.Within(t, "cycles of all", nops, r.Cycles, nops+60)
}

// TestSlices: each of two threads has ten million cycles in turn, whatever the other has used of its own.
func TestSlices(t *testing.T) {
	spin := []uint32{rv.Lui(7, 3<<20), rv.Addi(7, 7, -1), rv.B(1, 7, 0, -4)} // 6.3 million cycles
	longer := slices.Concat([]uint32{rv.Lui(7, 4<<20)}, spin[1:])            // 8.4 million
	child := slices.Concat(longer, own(call.End))                            // which ends the guest: it has begun none
	p := must.Get(riscv.Load(code(slices.Concat(system(clone, threadFlags), []uint32{rv.B(1, 10, 0, int32(4+4*len(child)))}, child, spin, system(yield), []uint32{rv.Jal(0, 0)}), nil), nil))(t)
	r, err := riscv.Run(t.Context(), p, riscv.Options{CycleLimit: 40_000_000})
	golden.Equal(t, "kind", riscv.BadCall, kindOf(err))
	golden.Within(t, "cycles", 14_600_000, r.Cycles, 14_800_000)
}
