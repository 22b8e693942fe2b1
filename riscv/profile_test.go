package riscv_test

import (
	"bytes"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// samples returns the cycles in a profile: by call stack, the callers first, and by function without what it
// calls.
func samples(t *testing.T, raw []byte) (stacks map[string]int64, self map[string]int64) {
	t.Helper()
	stacks, self = make(map[string]int64), make(map[string]int64)
	for _, s := range must.Get(profile.Parse(bytes.NewReader(raw)))(t).Sample {
		var names []string
		for _, l := range s.Location {
			names = append(names, l.Line[0].Function.Name)
		}
		self[names[0]] += s.Value[0]
		slices.Reverse(names)
		stacks[strings.Join(names, " ")] += s.Value[0]
	}
	return stacks, self
}

// counted returns the cycles of each function, from the counts of its blocks.
func counted(r *riscv.Result) map[string]int64 {
	counts := make(map[string]int64)
	for _, f := range r.Functions {
		counts[f.Name] += int64(f.Total())
	}
	return counts
}

// TestProfile: every cycle is in one stack of calls, which is that of the program, and of the function that spent it;
// and the same profile comes of every run.
func TestProfile(t *testing.T) {
	testsize.Full(t)
	_, p := guest(t, "guest")
	run := func() (*riscv.Result, []byte) {
		var raw bytes.Buffer
		r := must.Get(riscv.Run(t.Context(), p, riscv.Options{Args: []string{"5"}, Profile: &raw}))(t)
		return r, raw.Bytes()
	}
	r, raw := run()
	_, again := run()
	golden.Equal(t, "the same profile", true, bytes.Equal(raw, again))
	stacks, self := samples(t, raw)
	golden.Equal(t, "cycles by function", counted(r), self)
	for s := range stacks {
		if strings.Count(s, " ") > 30 || strings.HasPrefix(s, "runtime.goexit1 ") && !strings.HasPrefix(s, "runtime.goexit1 runtime.mcall") || strings.Contains(s, "runtime.gopark runtime.gopark") || strings.Count(s, "runtime.schedule ") > 2 {
			t.Errorf("stack %s", s)
		}
	}
	for _, want := range []string{
		"main.main.func1 main.(*node).sum main.(*node).sum",
		"main.main.func1 main.tree main.tree main.tree runtime.newobject runtime.mallocgc",
		"runtime.main main.main runtime.GC runtime.gcStart",
		"runtime.main main.main fmt.Fprintf",
	} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(stacks)), func(stack string) bool { return strings.Contains(stack, want) }) {
			t.Errorf("no stack with %s", want)
		}
	}
}

// TestProfileJumps: what a function jumps to in place of a call takes its place, by whatever instruction it comes
// there, and returns to its caller; what runs on a stack of another owner stays apart.
func TestProfileJumps(t *testing.T) {
	const ra = 1
	leaf := []uint32{rv.Lui(7, 4096), rv.Addi(7, 7, -1), rv.B(1, 7, 0, -4), rv.I(rv.OpJalr, 0, 0, ra, 0)} // of 8,194 cycles
	const leafCycles, leafAt, mainAt = 8194, 0, 16
	for name, test := range map[string]struct {
		thin []uint32 // before which main is, of 4 instructions
		own  int64
	}{
		"jal":           {[]uint32{rv.Jal(0, -32)}, 1},
		"a branch":      {[]uint32{rv.Nop, rv.B(0, 0, 0, -36)}, 2},
		"by a register": {[]uint32{rv.Lui(5, codeAt), rv.I(rv.OpJalr, 0, 0, 5, 0)}, 2},
		"by another":    {[]uint32{rv.Addi(6, ra, 0), rv.Lui(5, codeAt), rv.I(rv.OpJalr, 0, 5, 5, 0)}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			main := append([]uint32{rv.Jal(ra, 16), rv.Addi(10, 0, 0)}, system(93)...)
			raw := rv.ELF(64, codeAt+mainAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(slices.Concat(leaf, main, test.thin)...)})
			p := must.Get(riscv.Load(withSymbols(raw, label{"leaf", 2, codeAt + leafAt}, label{"main", 2, codeAt + mainAt}, label{"thin", 2, codeAt + mainAt + 16}), nil))(t)
			var profiled bytes.Buffer
			r := must.Get(riscv.Run(t.Context(), p, riscv.Options{Profile: &profiled}))(t)
			stacks, self := samples(t, profiled.Bytes())
			golden.Equal(t, "cycles by function", counted(r), self)
			golden.Equal(t, "stacks", map[string]int64{"main": 4, "main thin": test.own, "main leaf": leafCycles}, stacks)
		})
	}
	t.Run("off the end", func(t *testing.T) {
		raw := code(slices.Concat([]uint32{rv.Nop, rv.Nop}, system(124), system(93, 0)), nil)
		p := must.Get(riscv.Load(withSymbols(raw, label{"first", 2, codeAt}, label{"second", 2, codeAt + 4}, label{"third", 2, codeAt + 16}), nil))(t)
		var profiled bytes.Buffer
		must.Get(riscv.Run(t.Context(), p, riscv.Options{Profile: &profiled}))(t)
		_, self := samples(t, profiled.Bytes())
		golden.Equal(t, "cycles by function", map[string]int64{"first": 1, "second": 3, "third": 3}, self)
	})
	t.Run("over several", func(t *testing.T) {
		// main calls one, which calls two, which calls three, which returns to main; main calls four.
		returns := func(r uint32) uint32 { return rv.I(rv.OpJalr, 0, 0, r, 0) }
		main := append([]uint32{rv.Jal(ra, 32), rv.Jal(ra, 60), rv.Addi(10, 0, 0), rv.Nop, rv.Nop, rv.Nop}, system(93)...)
		words := slices.Concat(main,
			[]uint32{rv.Addi(8, ra, 0), rv.Nop, rv.Jal(ra, 8), rv.Nop}, // one, at 32
			[]uint32{rv.Nop, rv.Jal(ra, 8), rv.Nop},                    // two, at 48
			[]uint32{rv.Addi(ra, 8, 0), returns(ra)},                   // three, at 60, but for
			[]uint32{rv.Nop, returns(ra)})                              // four, at 68
		words[1] = rv.Jal(ra, 64)
		p := must.Get(riscv.Load(withSymbols(code(words, nil), label{"main", 2, codeAt}, label{"one", 2, codeAt + 32}, label{"two", 2, codeAt + 48}, label{"three", 2, codeAt + 60}, label{"four", 2, codeAt + 68}), nil))(t)
		var profiled bytes.Buffer
		must.Get(riscv.Run(t.Context(), p, riscv.Options{Profile: &profiled}))(t)
		stacks, _ := samples(t, profiled.Bytes())
		golden.Equal(t, "stacks", map[string]int64{"main": 8, "main one": 3, "main one two": 2, "main one two three": 2, "main four": 2}, stacks)
	})
	t.Run("to elsewhere", func(t *testing.T) {
		// main calls one, which returns behind where it was called; what main calls then is main's.
		main := append([]uint32{rv.Jal(ra, 24), rv.Nop, rv.Jal(ra, 24), rv.Addi(10, 0, 0)}, system(93)...)
		returns := rv.I(rv.OpJalr, 0, 0, ra, 0)
		p := must.Get(riscv.Load(withSymbols(code(slices.Concat(main, []uint32{rv.Addi(ra, ra, 4), returns, rv.Nop, returns}), nil), label{"main", 2, codeAt}, label{"one", 2, codeAt + 24}, label{"two", 2, codeAt + 32}), nil))(t)
		var profiled bytes.Buffer
		must.Get(riscv.Run(t.Context(), p, riscv.Options{Profile: &profiled}))(t)
		stacks, _ := samples(t, profiled.Bytes())
		golden.Equal(t, "stacks", map[string]int64{"main": 4, "main one": 2, "main one main": 1, "main two": 2}, stacks)
	})
	t.Run("to one below", func(t *testing.T) {
		// main calls one, which calls two, which jumps to one: it returns at once to the first.
		main := append([]uint32{rv.Jal(ra, 16), rv.Addi(10, 0, 0)}, system(93)...)
		one := []uint32{rv.B(1, 9, 0, 20), rv.Addi(9, 9, 1), rv.Addi(8, ra, 0), rv.Jal(ra, 12), rv.Addi(ra, 8, 0), rv.I(rv.OpJalr, 0, 0, ra, 0)}
		two := []uint32{rv.Nop, rv.Jal(0, -28)}
		p := must.Get(riscv.Load(withSymbols(code(slices.Concat(main, one, two), nil), label{"main", 2, codeAt}, label{"one", 2, codeAt + 16}, label{"two", 2, codeAt + 40}), nil))(t)
		var profiled bytes.Buffer
		must.Get(riscv.Run(t.Context(), p, riscv.Options{Profile: &profiled}))(t)
		stacks, _ := samples(t, profiled.Bytes())
		golden.Equal(t, "stacks", map[string]int64{"main": 4, "main one": 6, "main one two": 2, "main one one": 2}, stacks)
	})
	t.Run("two threads", func(t *testing.T) {
		// The second has its own stack by register tp, which clone sets, and calls until its section ends.
		child := []uint32{rv.Jal(ra, 8), rv.Jal(0, -4), rv.Addi(8, 8, 1), rv.I(rv.OpJalr, 0, 0, ra, 0)} // calls what stands at 8, over and over
		parent := []uint32{rv.Lui(7, 6<<20), rv.Addi(7, 7, -1), rv.B(1, 7, 0, -4)}                      // 12.6 million cycles
		begin := slices.Concat(number(13, 99), system(220, threadFlags|0x80000, 0, 0, 99), []uint32{rv.B(1, 10, 0, int32(4+4*len(child)))})
		words := slices.Concat(begin, child, parent, system(94, 0))
		at := int64(codeAt + 4*len(begin))
		p := must.Get(riscv.Load(withSymbols(code(words, nil), label{"main", 2, codeAt}, label{"child", 2, uint64(at)}, label{"add", 2, uint64(at) + 8}, label{"parent", 2, uint64(at) + 16}), nil))(t)
		var profiled bytes.Buffer
		r := must.Get(riscv.Run(t.Context(), p, riscv.Options{Profile: &profiled}))(t)
		stacks, self := samples(t, profiled.Bytes())
		golden.Equal(t, "cycles by function", counted(r), self)
		golden.Equal(t, "stacks", []string{"child", "child add", "main", "parent"}, slices.Sorted(maps.Keys(stacks)))
	})
}

// TestProfileBare: of a program without symbols, which returns by another register too, every cycle is in
// the profile.
func TestProfileBare(t *testing.T) {
	const ra, zero = 1, 0
	words := []uint32{
		rv.Jal(ra, 16),                     // calls what stands at 16
		rv.Addi(17, zero, 93), rv.Ecall, 0, // exit
		rv.Addi(5, ra, 0), rv.Jal(ra, 12), // at 16: keeps ra, calls what stands at 32
		rv.I(rv.OpJalr, 0, zero, 5, 0), 0, // returns by another register
		rv.Addi(6, 6, 1), rv.I(rv.OpJalr, 0, zero, ra, 0), // at 32: adds, returns
	}
	p := must.Get(riscv.Load(code(words, nil), nil))(t)
	var raw bytes.Buffer
	r := must.Get(riscv.Run(t.Context(), p, riscv.Options{Profile: &raw}))(t)
	golden.Equal(t, "cycles", uint64(8), r.Cycles)
	parsed := must.Get(profile.Parse(&raw))(t)
	total := int64(0)
	for _, s := range parsed.Sample {
		total += s.Value[0]
	}
	golden.Equal(t, "cycles of the profile", int64(8), total)
}

// TestProfileLimits: what calls without end, on one stack or on many, is profiled to its last cycle, and in
// little memory.
func TestProfileLimits(t *testing.T) {
	const ra, tp = 1, 4
	next := rv.Addi(tp, tp, 1)
	down := slices.Concat(number(7, 1<<20), []uint32{rv.Addi(7, 7, -1), rv.B(0, 7, 0, 8), rv.Jal(ra, -8)})               // calls that deep
	nowhere := append(slices.Clone(down), 0x00000097, rv.Addi(ra, ra, 12), rv.I(rv.OpJalr, 0, 0, ra, 0), rv.Jal(0, -12)) // auipc ra, 0
	for name, test := range map[string]struct {
		words  []uint32
		cycles uint64
	}{
		"recursion":                    {[]uint32{rv.Jal(ra, 0)}, 8_000_000},
		"returns to where none called": {nowhere, 8_000_000},
		"many stacks":                  {[]uint32{next, rv.Jal(ra, -4)}, 4_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			p := must.Get(riscv.Load(code(test.words, nil), nil))(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var raw bytes.Buffer
			r, _ := riscv.Run(t.Context(), p, riscv.Options{CycleLimit: test.cycles, Profile: &raw})
			runtime.ReadMemStats(&after)
			golden.Equal(t, "cycles", test.cycles, r.Cycles)
			golden.Within(t, "bytes", 0, after.TotalAlloc-before.TotalAlloc, 200<<20)
			parsed := must.Get(profile.Parse(&raw))(t)
			total := int64(0)
			for _, s := range parsed.Sample {
				total += s.Value[0]
			}
			golden.Equal(t, "cycles of the profile", int64(r.Cycles), total)
		})
	}
}
