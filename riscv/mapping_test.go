package riscv_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
)

// number returns instructions that load v into a register.
func number(rd uint32, v int64) []uint32 {
	low := int32(v<<52>>52) & 0xfff
	if high := (v + 1<<11) >> 12; high != 0 {
		return append(number(rd, high), rv.I(rv.OpImm, 1, rd, rd, 12), rv.Addi(rd, rd, low))
	}
	return []uint32{rv.Addi(rd, 0, low)}
}

// system returns instructions that make a Linux call. An argument below 0 stands for the value of register
// t0.
func system(call int64, args ...int64) (words []uint32) {
	for i, v := range args {
		if r := uint32(10 + i); v < 0 {
			words = append(words, rv.Addi(r, 5, 0))
		} else {
			words = append(words, number(r, v)...)
		}
	}
	return append(append(words, number(17, call)...), rv.Ecall)
}

// kindOf returns the kind of a fault, or 0 if err is not one.
func kindOf(err error) riscv.FaultKind {
	if fault, ok := errors.AsType[*riscv.Fault](err); ok {
		return fault.Kind
	}
	return 0
}

// TestMapping: code stays as it was loaded, and what is written is not executed; memory that was given back is
// gone, and what comes in its place is zero.
func TestMapping(t *testing.T) {
	const (
		munmap, mmap, mprotect, madvise = 215, 222, 226, 233
		page, anonymous, fixed          = 4096, 0x22, 0x32
		noReplace                       = 0x100022
		badValue, noMemory, exists      = 256 - 22, 256 - 12, 256 - 17
		notAllowed, noDevice            = 256 - 1, 256 - 19
	)
	load := slices.Concat(number(5, dataAt), []uint32{rv.I(rv.OpLoad, 3, 10, 5, 0)})
	store := slices.Concat(number(5, dataAt), number(6, 5), []uint32{rv.S(rv.OpStore, 3, 5, 6, 0)})
	for name, test := range map[string]struct {
		words []uint32
		exit  int
		kind  riscv.FaultKind // 0: it exits
	}{
		"unmaps code":           {system(munmap, codeAt, page), badValue, 0},
		"unmaps around code":    {system(munmap, 0, 1<<32), badValue, 0},
		"writes to code":        {system(mprotect, codeAt, page, 3), badValue, 0},
		"empties code":          {system(madvise, codeAt, page, 4), badValue, 0},
		"maps over code":        {system(mmap, codeAt, page, 3, fixed), badValue, 0},
		"maps over to code":     {system(mmap, codeAt-page, 2*page, 3, fixed), badValue, 0},
		"maps code":             {system(mmap, 0, page, 5, anonymous), badValue, 0},
		"makes code":            {system(mprotect, dataAt, page, 5), badValue, 0},
		"within a page":         {system(munmap, dataAt+8, page), badValue, 0},
		"of no bytes":           {system(munmap, dataAt, 0), badValue, 0},
		"advice on no bytes":    {system(madvise, dataAt, 0, 4), 0, 0},
		"rights of no bytes":    {system(mprotect, dataAt, 0, 3), 0, 0},
		"beyond all addresses":  {system(mmap, 1<<47, page, 3, fixed), noMemory, 0},
		"across the end":        {system(mmap, 1<<47-page, 2*page, 3, fixed), noMemory, 0},
		"larger than all":       {system(mmap, page, 1<<62, 3, fixed), noMemory, 0},
		"a hint beyond all":     {slices.Concat(system(mmap, 1<<50, page, 3, anonymous), []uint32{rv.I(rv.OpLoad, 3, 10, 10, 0)}), 0, 0},
		"a hint within a page":  {slices.Concat(system(mmap, 1<<33+5, page, 3, anonymous), number(5, 1<<33), []uint32{rv.R(rv.OpReg, 0, 0x20, 10, 10, 5)}), 0, 0},
		"at no address":         {system(mmap, 0, page, 3, fixed), notAllowed, 0},
		"within another page":   {system(mmap, dataAt+8, page, 3, fixed), badValue, 0},
		"for nobody":            {system(mmap, 0, page, 3, 0x20), badValue, 0},
		"of a pipe":             {system(mmap, 0, page, 3, 2), noDevice, 0},
		"more than there is":    {system(mmap, 0, 1<<46, 3, anonymous), noMemory, 0},
		"below what maps have":  {system(mmap, 0, 0x3f_0000_0000-1<<31, 3, anonymous), noMemory, 0},
		"in place of another":   {system(mmap, dataAt, page, 3, noReplace), exists, 0},
		"rights to nothing":     {system(mprotect, 1<<32, page, 3), noMemory, 0},
		"rights over a hole":    {slices.Concat(system(munmap, dataAt+page, page), system(mprotect, dataAt, 3*page, 1)), noMemory, 0},
		"rights of two regions": {slices.Concat(system(mprotect, dataAt, page, 1), system(mprotect, dataAt, 2*page, 3), store, load), 5, 0},
		"reads what is gone":    {slices.Concat(load, system(munmap, dataAt, page), load), 0, riscv.WildAccess},
		"writes what is gone":   {slices.Concat(store, system(munmap, dataAt, page), store), 0, riscv.WildAccess},
		"reads without right":   {slices.Concat(load, system(mprotect, dataAt, page, 0), load), 0, riscv.WildAccess},
		"writes without right":  {slices.Concat(store, system(mprotect, dataAt, page, 1), store), 0, riscv.WildAccess},
		"reads what it has":     {slices.Concat(store, load), 5, 0},
		"empties what it has":   {slices.Concat(store, load, system(madvise, dataAt, page, 4), load), 0, 0},
		"other advice":          {slices.Concat(store, load, system(madvise, dataAt, page, 8), load), 5, 0},
		"unmaps and maps again": {slices.Concat(store, system(munmap, dataAt, page), system(mmap, dataAt, page, 3, fixed), load), 0, 0},
		"maps over data":        {slices.Concat(store, load, system(mmap, dataAt, page, 3, fixed), load), 0, 0},
		"gets another's page":   {slices.Concat(store, system(munmap, dataAt, page), system(mmap, 1<<33, page, 3, anonymous), []uint32{rv.I(rv.OpLoad, 3, 10, 10, 0)}), 0, 0},
		"writes over the end":   {slices.Concat(number(5, dataAt+1<<16-4), []uint32{rv.S(rv.OpStore, 3, 5, 6, 0)}), 0, riscv.WildAccess},
		"reads over the end":    {slices.Concat(number(5, dataAt+1<<16-4), []uint32{rv.I(rv.OpLoad, 3, 6, 5, 0)}), 0, riscv.WildAccess},
	} {
		t.Run(name, func(t *testing.T) {
			words := slices.Concat(test.words, system(93))
			p := must.Get(riscv.Load(code(words, []byte{7}), nil))(t)
			r, err := riscv.Run(t.Context(), p, riscv.Options{Misaligned: true})
			golden.Equal(t, "kind", test.kind, kindOf(err))
			golden.Equal(t, "exit", test.exit, r.Exit)
		})
	}
}

// TestMove: a mapping is made longer where there is room, or is moved with all that it has; what it leaves is gone.
func TestMove(t *testing.T) {
	const (
		mmap, mremap, mprotect         = 222, 216, 226
		at, page                       = 1 << 33, 4096
		badAddress, noMemory, badValue = 256 - 14, 256 - 12, 256 - 22
		fixed                          = 0x32
	)
	maps := slices.Concat(system(mmap, at, 2*page, 3, fixed), put(at+page, 5))
	blocked := slices.Concat(maps, system(mmap, at+2*page, page, 3, fixed))
	load := func(at int64) []uint32 {
		return slices.Concat(number(5, at), []uint32{rv.I(rv.OpLoad, 3, 10, 5, 0)})
	}
	loadAt := func(offset int64) []uint32 { // from a0
		return slices.Concat(number(5, offset), []uint32{rv.R(rv.OpReg, 0, 0, 5, 5, 10), rv.I(rv.OpLoad, 3, 10, 5, 0)})
	}
	for name, test := range map[string]struct {
		words []uint32
		exit  int
		kind  riscv.FaultKind
	}{
		"longer":               {slices.Concat(maps, system(mremap, at, 2*page, 4*page, 0), put(at+3*page, 6), load(at+3*page)), 6, 0},
		"longer, and has it":   {slices.Concat(maps, system(mremap, at, 2*page, 4*page, 0), load(at+page)), 5, 0},
		"no room":              {slices.Concat(blocked, system(mremap, at, 2*page, 4*page, 0)), noMemory, 0},
		"moved, and has it":    {slices.Concat(blocked, system(mremap, at, 2*page, 4*page, 1), loadAt(page)), 5, 0},
		"moved, and has more":  {slices.Concat(blocked, system(mremap, at, 2*page, 4*page, 1), loadAt(3*page)), 0, 0},
		"moved, and gone":      {slices.Concat(blocked, system(mremap, at, 2*page, 4*page, 1), load(at+page)), 0, riscv.WildAccess},
		"moved, beside others": {slices.Concat(blocked, put(at+2*page, 7), system(mremap, at, 2*page, 1<<36, 1), load(at+2*page)), 7, 0},
		"a large one is moved": {slices.Concat(blocked, system(mremap, at, 2*page, 1<<36, 1), []uint32{rv.Addi(28, 10, 0)}, system(mmap, 0, page, 3, 0x22), []uint32{rv.Addi(10, 28, 0)}, loadAt(page)), 5, 0},
		"shorter":              {slices.Concat(maps, system(mremap, at, 2*page, page, 0), load(at+page)), 0, riscv.WildAccess},
		"as long":              {slices.Concat(maps, system(mremap, at, 2*page, 2*page, 0), load(at+page)), 5, 0},
		"rights stay":          {slices.Concat(maps, system(mprotect, at, 2*page, 1), system(mremap, at, 2*page, 4*page, 0), put(at+3*page, 1)), 0, riscv.WildAccess},
		"of nothing":           {slices.Concat(maps, system(mremap, at+8*page, page, 2*page, 1)), badAddress, 0},
		"over a hole":          {slices.Concat(maps, system(mremap, at, 3*page, 4*page, 1)), badAddress, 0},
		"of code":              {system(mremap, codeAt, page, 2*page, 1), badValue, 0},
		"to no bytes":          {slices.Concat(maps, system(mremap, at, 2*page, 0, 1)), badValue, 0},
		"to a place":           {slices.Concat(maps, system(mremap, at, 2*page, 4*page, 3, 1<<34)), badValue, 0},
		"more than there is":   {slices.Concat(maps, system(mremap, at, 2*page, 1<<46, 1)), noMemory, 0},
		"more than all":        {slices.Concat(maps, number(5, -1), system(mremap, at, 2*page, -1, 1)), badValue, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := must.Get(riscv.Load(code(slices.Concat(test.words, system(exitGroup)), nil), nil))(t)
			r, err := riscv.Run(t.Context(), p, riscv.Options{CycleLimit: 10_000})
			golden.Equal(t, "kind", test.kind, kindOf(err))
			golden.Equal(t, "exit", test.exit, r.Exit)
		})
	}
}

// TestReuse: addresses that were given back are mapped again, and pages that were there at once are not those that
// came into being.
func TestReuse(t *testing.T) {
	const size, rounds = 1 << 30, 400
	turn := slices.Concat(system(222, 0, size, 3, 0x22), []uint32{rv.B(4, 10, 0, 8)}) // fails: goes to the end
	turn = append(turn, rv.Jal(0, 8), rv.Jal(0, 0))
	tail := slices.Concat([]uint32{rv.S(rv.OpStore, 3, 10, 9, 0)}, number(11, size), number(17, 215), []uint32{rv.Ecall, rv.Addi(9, 9, -1)})
	loop := append(turn, tail...)
	loop = append(loop, rv.B(1, 9, 0, -4*int32(len(loop))))
	p := must.Get(riscv.Load(code(slices.Concat(number(9, rounds), loop, system(93, 0)), nil), nil))(t)
	r := must.Get(riscv.Run(t.Context(), p, riscv.Options{CycleLimit: 1_000_000}))(t)
	golden.Equal(t, "touches", uint64(rounds), r.Touches-uint64(r.Pages)+1)
	golden.Within(t, "pages", 2, r.Pages, 4)
}
