package riscv_test

import (
	"bytes"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/rv"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// TestProfile: every cycle is in one stack of calls, which is that of the program, and the same profile
// comes of every run.
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
	parsed := must.Get(profile.Parse(bytes.NewReader(raw)))(t)
	total, self := int64(0), make(map[string]int64)
	stacks := make(map[string]bool)
	for _, s := range parsed.Sample {
		var names []string
		for _, l := range s.Location {
			names = append(names, l.Line[0].Function.Name)
		}
		total += s.Value[0]
		self[names[0]] += s.Value[0]
		slices.Reverse(names)
		stacks[strings.Join(names, " ")] = true
	}
	golden.Equal(t, "cycles", int64(r.Cycles), total)
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
	// What a function has for itself is what its blocks say, but for what it jumps to without a call.
	for _, f := range r.Functions {
		if f.Name == "main.tree" || f.Name == "main.(*node).sum" {
			golden.Within(t, "cycles of "+f.Name, int64(f.Total())*99/100, self[f.Name], int64(f.Total())*101/100)
		}
	}
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
	for name, test := range map[string]struct {
		words  []uint32
		cycles uint64
	}{
		"recursion":   {[]uint32{rv.Jal(ra, 0)}, 8_000_000},
		"many stacks": {[]uint32{next, rv.Jal(ra, -4)}, 4_000_000},
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
