package riscv_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/guesttest"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// hostile writes random programs that may do anything: random instructions, jumps, sections, precompiles, and
// calls of any number with any addresses and sizes.
type hostile struct{ guesttest.Program }

func (p *hostile) li(rd uint32, v int64) {
	for _, w := range number(rd, v) {
		p.Put(w)
	}
}

func (p *hostile) argument() int64 {
	return []int64{0, 1, 3, 4, 8, 0x22, 0x32, 0x10000, 4096, 8192, 1 << 20, 1 << 40, 1<<47 - 4096, codeAt, dataAt, dataAt + 4096, dataAt + 4092, 0x3f_ffff_0000, -1, -4096, p.Int64N(1 << 16)}[p.IntN(21)]
}

func (p *hostile) one(linux []int64) {
	switch p.IntN(8) {
	case 0:
		if p.IntN(10) == 0 {
			p.Put(p.Uint32())
		}
	case 1: // a jump or a call, forward or a bit back, and a return from it
		p.Put(rv.Jal(p.Small(2), []int32{8, 12, 40, 120, -16}[p.IntN(5)]))
		if p.Put(rv.Addi(1, 1, 4)); p.IntN(8) == 0 {
			p.Put(rv.I(rv.OpJalr, 0, p.Small(2), 1, 0))
		}
	case 2, 3:
		for r := range uint32(4) {
			p.li(10+r, p.argument())
		}
		p.li(17, linux[p.IntN(len(linux))])
		p.Put(rv.Ecall)
	case 4:
		p.li(10, dataAt)
		p.li(11, 1+p.Int64N(3))
		for _, w := range own(p.Pick(call.Begin, call.Begin, call.End, call.Input, call.Commit, call.Own)) {
			p.Put(w)
		}
	case 5:
		if p.li(5, dataAt+1<<12); p.IntN(10) == 0 {
			p.li(5, p.argument())
		}
		f3, offset := p.Small(3), int32(p.IntN(1023))*4-2048
		p.Put(rv.I(rv.OpLoad, f3, 6, 5, offset))
		p.Put(rv.S(rv.OpStore, f3, 5, 6, offset))
	default:
		p.Put(rv.R(rv.OpReg, p.Small(8), p.Small(2), p.Small(29), p.Source(), p.Source()))
	}
}

// TestHostile: whatever a guest does it ends, with a fault if not by itself, in each instruction set; and its counts
// are those of its functions, of its sections, and of the profile, and those that it has without one or with a trace.
func TestHostile(t *testing.T) {
	linux := []int64{19, 20, 21, 22, 25, 56, 57, 63, 64, 67, 78, 93, 94, 96, 98, 101, 113, 123, 124, 129, 131, 132, 172, 178, 214, 215, 220, 222, 226, 233, 258, 278}
	one := riscv.Precompile{Name: "one", Number: call.Own, Do: func(g riscv.Guest, args [6]uint64) (uint64, error) {
		var b [40]byte
		return 0, errors.Join(g.Read(args[1], b[:]), g.Write(args[0], b[:]))
	}}
	for range testsize.Pick(100, 1_000, 100_000) {
		seed := rand.Uint64()
		p := &hostile{guesttest.Program{Rand: rand.New(rand.NewPCG(seed, 2))}}
		for range 5 + p.IntN(100) {
			p.one(linux)
		}
		p.li(17, 94)
		p.Put(rv.Ecall)
		parts := []rv.Segment{{At: codeAt, Flags: 5, Data: p.Text}, {At: dataAt, Flags: 6, Data: bytes.Repeat([]byte("abc"), 1000), Memory: 1 << 16}}
		raw := rv.ELF(64, codeAt, parts...)
		isa := []*riscv.ISA{riscv.RV64GC(), riscv.RV64IMC(), riscv.RV64IM(), riscv.RV32IM()}[p.IntN(4)]
		if isa.XLEN == 32 {
			raw = rv.ELF(32, codeAt, parts...)
		}
		o := riscv.Options{Input: p.Text, CycleLimit: 1 + p.Uint64N(2_000), MemoryLimit: 1 << 20, Misaligned: p.IntN(2) == 0, Precompiles: []riscv.Precompile{one}}
		guest := must.Get(riscv.Load(raw, isa))(t)
		plain, err := riscv.Run(t.Context(), guest, o)
		var out bytes.Buffer
		o.Profile = &out
		profiled, again := riscv.Run(t.Context(), guest, o)
		golden.Equal(t, "with a profile", outcomeOf(plain, err), outcomeOf(profiled, again))
		var traced bytes.Buffer
		steps := uint64(0)
		o.Profile, o.Trace = &traced, func(riscv.Step) { steps++ }
		golden.Equal(t, "with a trace", outcomeOf(plain, err), outcomeOf(riscv.Run(t.Context(), guest, o)))
		golden.Equal(t, "profile with a trace", out.String(), traced.String())
		golden.Equal(t, "steps", plain.Cycles, steps)
		_, err = ended(plain, err)
		if fault, ok := errors.AsType[*riscv.Fault](err); err != nil && (!ok || fault.Cycle != plain.Cycles) {
			t.Errorf("%v after %d cycles", err, plain.Cycles)
		}
		check := func(tally riscv.Tally) {
			functions, calls := uint64(0), uint64(0)
			for _, f := range tally.Functions {
				functions += f.Total()
			}
			for _, c := range tally.Precompiles {
				calls += c.Calls
			}
			golden.Equal(t, "cycles by classes and functions", [3]uint64{tally.Cycles, tally.Cycles, calls}, [3]uint64{tally.Classes.Total(), functions, tally.Classes[riscv.Precompiled]})
		}
		check(plain.Tally)
		for i, s := range plain.Sections {
			check(s.Tally)
			inner := uint64(0)
			for _, other := range plain.Sections[i+1:] {
				if name, ok := bytes.CutPrefix([]byte(other.Name), []byte(s.Name+"/")); ok && !slices.Contains(name, '/') {
					inner += other.Cycles
				}
			}
			golden.Within(t, "cycles of a section", inner, s.Cycles, plain.Cycles)
		}
		total := int64(0)
		for _, s := range must.Get(profile.Parse(&out))(t).Sample {
			total += s.Value[0]
		}
		golden.Equal(t, "cycles of the profile", int64(plain.Cycles), total)
		golden.Within(t, "pages", 0, plain.Pages, 256)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
