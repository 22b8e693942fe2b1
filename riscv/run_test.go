package riscv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload/guestprogram"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// guest builds a guest in testdata.
func guest(t testing.TB, name string) (path string, p *riscv.Program) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	must.Do(t, guestprogram.BuildFile(t.Context(), path, ".", "./testdata/"+name))
	return path, must.Get(riscv.Load(must.Get(os.ReadFile(path))(t), nil))(t)
}

// TestGo: a program of Go says what it says under QEMU, and retires the same instructions in each run,
// beside others and on any number of processors.
func TestGo(t *testing.T) {
	testsize.Full(t)
	path, p := guest(t, "guest")
	const input = "one and another"
	options := func(out *bytes.Buffer) riscv.Options {
		return riscv.Options{Args: []string{"5"}, Input: []byte(input), Stdout: out}
	}
	var out bytes.Buffer
	first := must.Get(riscv.Run(t.Context(), p, options(&out)))(t)
	golden.Equal(t, "exit code", 0, first.Exit)
	golden.Equal(t, "cycles by classes", first.Cycles, first.Classes.Total())
	byFunction := uint64(0)
	names := make(map[string]bool)
	for _, f := range first.Functions {
		byFunction += f.Total()
		names[f.Name] = true
	}
	golden.Equal(t, "cycles by functions", first.Cycles, byFunction)
	for _, name := range []string{"main.tree", "main.(*node).sum", "runtime.mallocgc", "runtime.gcStart"} {
		if !names[name] {
			t.Errorf("no function %s", name)
		}
	}

	golden.Equal(t, "sections", 2, len(first.Sections))
	outer, inner := first.Sections[0], first.Sections[1]
	golden.Equal(t, "sections' names", "outer 2 outer/inner 2", fmt.Sprint(outer.Name, " ", outer.Entered, " ", inner.Name, " ", inner.Entered))
	called := func(t riscv.Tally, name string) uint64 {
		i := slices.IndexFunc(t.Functions, func(f riscv.Function) bool { return f.Name == name })
		if i < 0 {
			return 0
		}
		return t.Functions[i].Total()
	}
	// A tree of depth n has 2^n-1 nodes and 2^n calls that end.
	both, deeper := called(outer.Tally, "main.tree"), called(inner.Tally, "main.tree")
	if deeper == 0 || both <= 3*deeper || both*31 >= 94*deeper || called(outer.Tally, "runtime.schedinit") > 0 {
		t.Errorf("main.tree took %d cycles in both sections, %d in the inner one", both, deeper)
	}

	var wg sync.WaitGroup
	for _, procs := range []int{1, 2} {
		before := runtime.GOMAXPROCS(procs)
		for range 4 {
			wg.Go(func() {
				var again bytes.Buffer
				r, err := riscv.Run(t.Context(), p, options(&again))
				if err != nil || r.Cycles != first.Cycles || r.Classes != first.Classes || r.Pages != first.Pages || again.String() != out.String() {
					t.Errorf("another run: %+v, %v", r, err)
				}
			})
		}
		wg.Wait()
		runtime.GOMAXPROCS(before)
	}

	qemu := exec.CommandContext(t.Context(), testsize.Program(t, "qemu", "qemu-riscv64"), path, "5")
	qemu.Stdin = strings.NewReader(input)
	golden.Equal(t, "output", string(must.Get(qemu.Output())(t)), out.String())

	_, err := riscv.Run(t.Context(), p, riscv.Options{Args: []string{"-1"}})
	fault, ok := errors.AsType[*riscv.Fault](err)
	if !ok || fault.Kind != riscv.WildAccess || fault.Function != "main.main" || fault.Cycle == 0 {
		t.Errorf("of a nil pointer: %v", err)
	}
	r := must.Get(ended(riscv.Run(t.Context(), p, riscv.Options{Args: []string{"x"}})))(t)
	golden.Equal(t, "exit code of what went wrong", 3, r.Exit)
	for _, o := range []riscv.Options{{Args: []string{"5"}, CycleLimit: 100_000}, {Args: []string{"5"}, MemoryLimit: uint64(first.Pages-64) * 4096}} {
		r, err := riscv.Run(t.Context(), p, o)
		fault, ok := errors.AsType[*riscv.Fault](err)
		if !ok || o.CycleLimit > 0 && (fault.Kind != riscv.OutOfCycles || r.Cycles != o.CycleLimit) || o.MemoryLimit > 0 && (fault.Kind != riscv.OutOfMemory || r.Pages != first.Pages-64) {
			t.Errorf("beyond a limit: %v", err)
		}
		golden.Equal(t, "cycles by classes", r.Cycles, r.Classes.Total())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.FailGet(riscv.Run(ctx, p, riscv.Options{}))(t, context.Canceled, "a cancelled run")
}

// ended accepts a guest that has ended itself, with any code.
func ended(r *riscv.Result, err error) (*riscv.Result, error) {
	if _, itself := errors.AsType[*riscv.ExitError](err); itself {
		return r, nil
	}
	return r, err
}

// TestExit: a guest that commits and ends with a code other than 0 has failed: there is no output but in the error.
func TestExit(t *testing.T) {
	for _, code := range []int64{0, 1, 255} {
		words := slices.Concat(number(10, dataAt), number(11, 3), own(call.Commit), number(10, dataAt+3), number(11, 2), own(call.Commit), system(93, code))
		p := must.Get(riscv.Load(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(words...)}, rv.Segment{At: dataAt, Flags: 6, Data: []byte("valid")}), nil))(t)
		for _, profile := range []io.Writer{nil, io.Discard} {
			r, err := riscv.Run(t.Context(), p, riscv.Options{Profile: profile})
			golden.Equal(t, "exit code", int(code), r.Exit)
			if code == 0 {
				must.Do(t, err)
				golden.Equal(t, "output", "valid", string(r.Output))
				continue
			}
			exit, ok := err.(*riscv.ExitError)
			if !ok || exit.Code != int(code) || string(exit.Output) != "valid" || len(r.Output) > 0 || r.Cycles == 0 {
				t.Errorf("code %d: %v, output %q", code, err, r.Output)
			}
		}
	}
	// A guest that is ended has none either.
	words := slices.Concat(number(10, dataAt), number(11, 5), own(call.Commit), []uint32{0})
	r, err := riscv.Run(t.Context(), must.Get(riscv.Load(code(words, []byte("valid")), nil))(t), riscv.Options{})
	golden.Equal(t, "kind", riscv.IllegalInstruction, kindOf(err))
	golden.Equal(t, "output", "", string(r.Output))
}

// TestExitCode: no code other than 0 is taken for 0, by the call that ends a thread or by the one that ends all of them.
func TestExitCode(t *testing.T) {
	for _, ends := range []int64{exit, exitGroup} {
		for passed, want := range map[int64]int{0: 0, 1: 1, 255: 255, 256: 255, 257: 1, 512: 255, 1 << 31: 255, 1 << 32: 255, -1: 255, -256: 255} {
			words := slices.Concat(number(10, dataAt), number(11, 5), own(call.Commit), number(10, passed), system(ends))
			p := must.Get(riscv.Load(code(words, []byte("valid")), nil))(t)
			r, err := riscv.Run(t.Context(), p, riscv.Options{})
			golden.Equal(t, fmt.Sprintf("code of %d by call %d", passed, ends), want, r.Exit)
			if failed, ok := errors.AsType[*riscv.ExitError](err); want == 0 && err != nil || want != 0 && (!ok || failed.Code != want || len(r.Output) > 0) {
				t.Errorf("%d by call %d: %v, output %q", passed, ends, err, r.Output)
			}
		}
	}
}

// TestExitOfThreads: a guest has failed if a thread has, whatever another one commits to and ends with later.
func TestExitOfThreads(t *testing.T) {
	for _, test := range []struct {
		first, second, ends int64 // codes of the first thread and the second, and the call by which the second ends
		want                int
	}{
		{0, 0, exit, 0},
		{0, 0, exitGroup, 0},
		{1, 0, exit, 1},
		{1, 0, exitGroup, 1},
		{0, 2, exit, 2},
		{0, 2, exitGroup, 2},
		{1, 2, exit, 1},
		{256, 0, exit, 255},
	} {
		first := system(exit, test.first)
		words := slices.Concat(system(clone, 0x10000), []uint32{rv.B(0, 10, 0, int32(4*(len(first)+1)))}, first, // which the second skips
			number(10, dataAt), number(11, 5), own(call.Commit), system(test.ends, test.second))
		p := must.Get(riscv.Load(code(words, []byte("valid")), nil))(t)
		r, err := riscv.Run(t.Context(), p, riscv.Options{})
		golden.Equal(t, fmt.Sprintf("code of %+v", test), test.want, r.Exit)
		failed, ok := errors.AsType[*riscv.ExitError](err)
		switch {
		case test.want == 0 && (err != nil || string(r.Output) != "valid"):
			t.Errorf("%+v: %v, output %q", test, err, r.Output)
		case test.want != 0 && (!ok || failed.Code != test.want || string(failed.Output) != "valid" || len(r.Output) > 0):
			t.Errorf("%+v: %v, output %q", test, err, r.Output)
		}
	}
}

// own returns instructions that make a call of package call.
func own(number uint32) []uint32 {
	return []uint32{rv.Lui(17, number), rv.Addi(17, 17, int32(number&0xfff)), rv.Ecall}
}

// TestFaults: what a guest may not do ends it with where, when and why.
func TestFaults(t *testing.T) {
	toData := rv.Lui(5, dataAt)
	for name, test := range map[string]struct {
		words []uint32
		kind  riscv.FaultKind
		pc    uint64
		cycle uint64
		says  string
	}{
		"zero":                {[]uint32{rv.Nop, 0}, riscv.IllegalInstruction, 4, 1, "0x0; accepted: RV64GC"},
		"unknown opcode":      {[]uint32{0x0000006b}, riscv.IllegalInstruction, 0, 0, "0x6b"},
		"another rounding":    {[]uint32{rv.Nop, rv.Nop, rv.R(rv.OpFP, 1, 0, 1, 2, 3)}, riscv.Unsupported, 8, 2, "rounding to nearest"},
		"a mode is set":       {[]uint32{0x0020d073}, riscv.Unsupported, 0, 0, "sets rounding mode 1; accepted: 0"},
		"register of machine": {[]uint32{0x30002573}, riscv.IllegalInstruction, 0, 0, "control register 0x300"},
		"reads nowhere":       {[]uint32{rv.Nop, rv.I(rv.OpLoad, 3, 5, 0, 8)}, riscv.WildAccess, 4, 1, "reads 8 bytes at 0x8"},
		"writes nowhere":      {[]uint32{rv.S(rv.OpStore, 0, 0, 5, 8)}, riscv.WildAccess, 0, 0, "writes 1 bytes at 0x8"},
		"misaligned":          {[]uint32{toData, rv.I(rv.OpLoad, 2, 6, 5, 2)}, riscv.Misaligned, 4, 1, "4 bytes at 0x200002"},
		"misaligned atomic":   {[]uint32{toData, rv.Addi(5, 5, 4), rv.R(rv.OpAmo, 3, 0, 6, 5, 6)}, riscv.Misaligned, 8, 2, "atomic, 8 bytes at 0x200004"},
		"writes code":         {[]uint32{rv.Lui(5, 0x00010000), rv.S(rv.OpStore, 2, 5, 6, 0)}, riscv.WriteToCode, 4, 1, "writes 4 bytes at 0x10000"},
		"jumps to data":       {[]uint32{toData, rv.I(rv.OpJalr, 0, 0, 5, 0)}, riscv.WildJump, dataAt - codeAt, 2, "there is no code"},
		"runs off the end":    {[]uint32{rv.Nop, rv.Nop}, riscv.IllegalInstruction, 8, 2, ""},
		"ebreak":              {[]uint32{0x00100073}, riscv.Aborted, 0, 0, "ebreak"},
		"ends no section":     {own(call.End), riscv.BadCall, 8, 3, "the end of a section that has not begun"},
		"section of no name":  {own(call.Begin), riscv.BadCall, 8, 3, "accepted: 1 to 64 printable ASCII characters"},
		"section nowhere":     {append([]uint32{rv.Addi(11, 0, 1)}, own(call.Begin)...), riscv.WildAccess, 12, 4, "the name of a section"},
		"commits to nowhere":  {append([]uint32{rv.Addi(11, 0, 1)}, own(call.Commit)...), riscv.WildAccess, 12, 4, "1 bytes of output at 0x0"},
		"commits to all":      {append([]uint32{rv.Addi(11, 0, -1)}, own(call.Commit)...), riscv.BadCall, 12, 4, "accepted: 67108864"},
		"unknown own call":    {own(call.Own), riscv.UnknownCall, 8, 3, "0x7a6b1000"},
		"kills itself":        {append([]uint32{rv.Addi(11, 0, 6)}, system(129)...), riscv.Aborted, 8, 3, "by its signal SIGABRT (6)"},
		"waits for ever":      {append([]uint32{toData, rv.Addi(10, 5, 0)}, system(98)...), riscv.Deadlock, 12, 4, "in futex (98)"},
		"loops for ever":      {[]uint32{rv.Jal(0, 0)}, riscv.OutOfCycles, 0, 1_000_000, "accepted: 1000000"},
	} {
		t.Run(name, func(t *testing.T) {
			p := must.Get(riscv.Load(code(test.words, make([]byte, 64)), nil))(t)
			r, err := riscv.Run(t.Context(), p, riscv.Options{CycleLimit: 1_000_000})
			fault, ok := errors.AsType[*riscv.Fault](err)
			if !ok || fault.Kind != test.kind || fault.PC != codeAt+test.pc || fault.Cycle != test.cycle {
				t.Fatalf("%v, want %v at %#x after %d", err, test.kind, codeAt+test.pc, test.cycle)
			}
			golden.Contains(t, err.Error(), test.says)
			golden.Equal(t, "cycles", [2]uint64{test.cycle, test.cycle}, [2]uint64{r.Cycles, r.Classes.Total()})
		})
	}
}

// TestReservation: a store that is conditional fails where another thread may have run since the load, and after
// another such store, even one that failed.
func TestReservation(t *testing.T) {
	load, store := rv.R(rv.OpAmo, 2, 2<<2, 6, 5, 0), rv.R(rv.OpAmo, 2, 3<<2, 10, 5, 6)
	exit := system(93)
	yield := system(124)
	spin := []uint32{rv.Lui(7, 10_000_000), rv.Addi(7, 7, -1), rv.B(1, 7, 0, -4)}
	elsewhere := []uint32{rv.Addi(7, 5, 8), rv.R(rv.OpAmo, 2, 3<<2, 11, 7, 6)}
	for name, test := range map[string]struct {
		between []uint32
		failed  int
	}{"at once": {nil, 0}, "after a call": {yield, 1}, "after a slice": {spin, 1}, "after a store": {[]uint32{store}, 1}, "after one elsewhere": {elsewhere, 1}} {
		words := slices.Concat([]uint32{rv.Lui(5, dataAt), load}, test.between, []uint32{store}, exit)
		p := must.Get(riscv.Load(code(words, nil), nil))(t)
		golden.Equal(t, name, test.failed, must.Get(ended(riscv.Run(t.Context(), p, riscv.Options{})))(t).Exit)
	}
}

// TestAddressZero: code at address 0 is jumped to, which no entry of an empty cache stands for.
func TestAddressZero(t *testing.T) {
	words := []uint32{rv.Addi(17, 0, 93), rv.Ecall, rv.I(rv.OpJalr, 0, 0, 0, 0)} // exit; begins here: jr zero
	text := rv.Text(words...)
	p := must.Get(riscv.Load(rv.ELF(64, 8, rv.Segment{At: 0, Flags: 5, Data: text}), nil))(t)
	golden.Equal(t, "cycles", uint64(3), must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t).Cycles)
}

// TestRegions: a guest that gives pages other rights, one by one, is refused where Linux refuses it.
func TestRegions(t *testing.T) {
	const at, page = 5, 6
	words := slices.Concat(
		[]uint32{rv.Addi(11, 0, 1), rv.I(rv.OpImm, 1, 11, 11, 36), rv.Addi(12, 0, 3), rv.Addi(13, 0, 0x22)}, system(222), // mmap of 2^36 bytes
		[]uint32{rv.Addi(at, 10, 0), rv.Lui(page, 1<<12)},
		[]uint32{rv.Addi(10, at, 0), rv.Addi(11, page, 0), rv.Addi(12, 0, 1)}, system(226), // mprotect of a page in two
		[]uint32{rv.R(rv.OpReg, 0, 0, at, at, page), rv.R(rv.OpReg, 0, 0, at, at, page), rv.B(0, 10, 0, -28)},
		[]uint32{rv.Addi(10, 10, 100)}, system(93))
	p := must.Get(riscv.Load(code(words, nil), nil))(t)
	r := must.Get(ended(riscv.Run(t.Context(), p, riscv.Options{CycleLimit: 1_000_000})))(t)
	golden.Equal(t, "exit", 100-12, r.Exit) // ENOMEM
	golden.Within(t, "cycles", 65_000*4, r.Cycles, 65_530*4+100)
}

// TestTurns: a thread that makes calls gives way after its slice, as one that makes none, and so it does where a
// profile tells calls and returns apart.
func TestTurns(t *testing.T) {
	const ra, stored = 1, 5
	words := slices.Concat(
		[]uint32{rv.Lui(stored, dataAt), rv.Lui(10, 0x10000)}, system(220), // clones, into two that go on here
		[]uint32{rv.B(1, 10, 0, 20)},                                              // the first goes to its loop
		[]uint32{rv.Addi(6, 0, 1), rv.S(rv.OpStore, 2, stored, 6, 0)}, system(93), // the second stores and ends
		system(172), // the first asks for the process, calls what returns, and looks, until it sees what was stored
		[]uint32{rv.Jal(ra, 16), rv.I(rv.OpLoad, 2, 7, stored, 0), rv.B(0, 7, 0, -16), rv.Jal(0, 8)},
		[]uint32{rv.I(rv.OpJalr, 0, 0, ra, 0)}, system(93))
	p := must.Get(riscv.Load(code(words, nil), nil))(t)
	o := riscv.Options{CycleLimit: 30_000_000}
	plain := must.Get(ended(riscv.Run(t.Context(), p, o)))(t)
	o.Profile = io.Discard
	profiled := must.Get(ended(riscv.Run(t.Context(), p, o)))(t)
	golden.Equal(t, "cycles with a profile", plain.Classes, profiled.Classes)
	golden.Within(t, "cycles", 10_000_000, plain.Cycles, 10_000_100)
}

// TestWake: a thread that sleeps is at no address, so that to wake who waits at address 0 wakes none.
func TestWake(t *testing.T) {
	words := slices.Concat(
		[]uint32{rv.Lui(5, dataAt), rv.Lui(10, 0x10000)}, system(220), // clones
		[]uint32{rv.B(1, 10, 0, 16), rv.Addi(10, 5, 0)}, system(101), // the second sleeps
		system(124), // the first lets it
		[]uint32{rv.Addi(10, 0, 0), rv.Addi(11, 0, 1), rv.Addi(12, 0, 1)}, system(98), // wakes
		system(94))
	p := must.Get(riscv.Load(code(words, []byte{100}), nil))(t)
	golden.Equal(t, "woken", 0, must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t).Exit)
}

// TestInput: a bare program of each width gets the input and commits to it.
func TestInput(t *testing.T) {
	words := slices.Concat(own(call.Input), own(call.Input), own(call.Commit), own(call.Input), own(call.Commit), []uint32{rv.Addi(17, 0, 93), rv.Addi(10, 0, 0), rv.Ecall})
	input := bytes.Repeat([]byte("0123456789"), 1000)
	text := rv.Text(words...)
	parts := []rv.Segment{{At: codeAt, Flags: 5, Data: text}}
	for name, p := range map[string]*riscv.Program{
		"64": must.Get(riscv.Load(rv.ELF(64, codeAt, parts...), riscv.RV64IM()))(t),
		"32": must.Get(riscv.Load(rv.ELF(32, codeAt, parts...), nil))(t),
	} {
		t.Run(name, func(t *testing.T) {
			r := must.Get(riscv.Run(t.Context(), p, riscv.Options{Input: input}))(t)
			golden.Equal(t, "output", string(input)+string(input), string(r.Output))
			golden.Equal(t, "cycles", uint64(18), r.Cycles)
			r = must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t)
			golden.Equal(t, "output of no input", 0, len(r.Output))
			_, err := riscv.Run(t.Context(), p, riscv.Options{Input: input, MemoryLimit: 2 * 4096})
			fault, ok := errors.AsType[*riscv.Fault](err)
			if !ok || fault.Kind != riscv.OutOfMemory {
				t.Errorf("input beyond the limit: %v", err)
			}
		})
	}
}

// TestInputAddress: the input of a bare program for 64 bits is at one address, whatever it is, and nothing else may be there.
func TestInputAddress(t *testing.T) {
	text := rv.Text(slices.Concat(own(call.Input), []uint32{rv.Addi(17, 0, 93), rv.Addi(10, 0, 0), rv.Ecall})...)
	raw := rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: text})
	for name, isa := range map[string]*riscv.ISA{"RV64IM": riscv.RV64IM(), "RV64IMC": riscv.RV64IMC()} {
		for _, n := range []int{0, 1, 10_000} {
			t.Run(fmt.Sprintf("%s/bytes=%d", name, n), func(t *testing.T) {
				p := must.Get(riscv.Load(raw, isa))(t)
				var results [][2]uint64
				o := riscv.Options{Input: make([]byte, n), Trace: func(s riscv.Step) {
					if s.Call != nil && s.Call.Number == call.Input {
						results = append(results, s.Call.Results)
					}
				}}
				must.Get(riscv.Run(t.Context(), p, o))(t)
				golden.Equal(t, "address and length", [][2]uint64{{1 << 46, uint64(n)}}, results)
				o.Map = []riscv.Range{{Start: 1<<46 - 1, End: 1<<46 + 1}}
				_, err := riscv.Run(t.Context(), p, o)
				if fault, ok := errors.AsType[*riscv.Fault](err); !ok || fault.Kind != riscv.OutOfMemory {
					t.Errorf("memory at the input's address: %v", err)
				}
			})
		}
	}
}

// TestLongProgram: code beyond what is kept decoded is counted all the same, and so is what a register jumps to before
// and after.
func TestLongProgram(t *testing.T) {
	testsize.Full(t)
	const nops, ra, f = 9 << 20, 1, 5
	call := rv.I(rv.OpJalr, 0, ra, f, 0)
	text := slices.Concat(
		rv.Text(rv.Lui(f, codeAt), rv.Addi(f, f, 16), call, rv.Jal(0, 8), rv.I(rv.OpJalr, 0, 0, ra, 0)), // calls what returns
		bytes.Repeat([]byte{rv.Nop, 0, 0, 0}, nops),
		rv.Text(call, rv.Addi(17, 0, 93), rv.Ecall))
	p := must.Get(riscv.Load(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: text}), nil))(t)
	r := must.Get(riscv.Run(t.Context(), p, riscv.Options{}))(t)
	golden.Equal(t, "cycles", [3]uint64{nops + 9, nops + 3, 5}, [3]uint64{r.Cycles, r.Classes[riscv.Integer], r.Classes[riscv.Branch]})
}

// BenchmarkLoop is a loop of shifts, exclusive ors and sums: cycles a second of the executor alone.
func BenchmarkLoop(b *testing.B) {
	const x, s = 6, 7
	body := []uint32{
		rv.I(rv.OpImm, 1, 8, x, 13), rv.R(rv.OpReg, 4, 0, x, x, 8),
		rv.I(rv.OpImm, 5, 8, x, 7), rv.R(rv.OpReg, 4, 0, x, x, 8),
		rv.I(rv.OpImm, 1, 8, x, 17), rv.R(rv.OpReg, 4, 0, x, x, 8),
		rv.R(rv.OpReg, 0, 0, s, s, x), rv.Addi(5, 5, -1),
	}
	loop := rv.B(1, 5, 0, -4*int32(len(body))) // bnez t0
	words := append([]uint32{rv.Lui(5, 10_000_000), rv.Addi(x, 0, 77)}, body...)
	words = append(words, loop, rv.Addi(17, 0, 93), rv.Ecall)
	p := must.Get(riscv.Load(code(words, nil), nil))(b)
	cycles := uint64(0)
	for b.Loop() {
		cycles += must.Get(riscv.Run(b.Context(), p, riscv.Options{}))(b).Cycles
	}
	b.ReportMetric(float64(cycles)/b.Elapsed().Seconds()/1e6, "Mcycles/s")
}

// BenchmarkPages touches 65,536 pages: bytes of the host that are allocated for one of the guest.
func BenchmarkPages(b *testing.B) {
	const pages, at, step, left = 1 << 16, 5, 6, 7
	text := rv.Text(
		rv.Lui(at, dataAt), rv.Lui(step, 4096), rv.Lui(left, pages),
		rv.S(rv.OpStore, 3, at, 0, 0), rv.R(rv.OpReg, 0, 0, at, at, step), rv.Addi(left, left, -1),
		rv.B(1, left, 0, -12),
		rv.Addi(17, 0, 93), rv.Addi(10, 0, 0), rv.Ecall,
	)
	p := must.Get(riscv.Load(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: text}, rv.Segment{At: dataAt, Flags: 6, Memory: pages * 4096}), nil))(b)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	touched := 0
	for b.Loop() {
		touched += must.Get(riscv.Run(b.Context(), p, riscv.Options{}))(b).Pages
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(touched)/4096, "B/B")
}

func ExampleRun() {
	raw, err := os.ReadFile("guest") // GOOS=linux GOARCH=riscv64 go build -o guest
	if err != nil {
		return
	}
	p, err := riscv.Load(raw, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := riscv.Run(context.Background(), p, riscv.Options{Stdout: os.Stdout})
	if err != nil {
		fmt.Println(err) // guest: wild access at 0x8f430 in main.main after 1234567 cycles: ...
		return
	}
	for _, f := range r.Functions[:10] {
		fmt.Println(f.Total(), f.Name)
	}
}

// TestMisaligned: accesses that are not aligned are counted where they were executed.
func TestMisaligned(t *testing.T) {
	toData := rv.Lui(5, dataAt)
	for name, test := range map[string]struct {
		words  []uint32
		does   bool // Options.Misaligned
		counts uint64
	}{
		"two":                   {[]uint32{toData, rv.I(rv.OpLoad, 3, 6, 5, 1), rv.S(rv.OpStore, 1, 5, 6, 3), rv.S(rv.OpStore, 1, 5, 6, 4)}, true, 2},
		"one that is refused":   {[]uint32{toData, rv.I(rv.OpLoad, 3, 6, 5, 1)}, false, 0},
		"one that goes nowhere": {[]uint32{rv.I(rv.OpLoad, 3, 6, 0, 1)}, true, 0},
		"one that is kept out":  {[]uint32{toData, rv.S(rv.OpStore, 3, 0, 6, 1)}, true, 0},
	} {
		p := must.Get(riscv.Load(code(append(test.words, system(93)...), nil), nil))(t)
		r, _ := riscv.Run(t.Context(), p, riscv.Options{Misaligned: test.does})
		golden.Equal(t, name, test.counts, r.Misaligned)
	}
}

// TestUpperHalf: of 32 bits addresses go on from 2^31-1 to 2^31, which a register has with a sign.
func TestUpperHalf(t *testing.T) {
	const half = 1 << 31
	lower, upper := rv.Segment{At: half - 4096, Flags: 6, Memory: 4096}, rv.Segment{At: half, Flags: 6, Memory: 4096}
	run := func(words []uint32, others ...rv.Segment) *riscv.Result {
		t.Helper()
		p := must.Get(riscv.Load(rv.ELF(32, codeAt, append(others, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(words...)})...), nil))(t)
		return must.Get(ended(riscv.Run(t.Context(), p, riscv.Options{Misaligned: true})))(t)
	}
	across := []uint32{rv.Lui(5, half), rv.Addi(6, 0, 0x123), rv.S(rv.OpStore, 2, 5, 6, -2), rv.I(rv.OpLoad, 2, 10, 5, -2)}
	golden.Equal(t, "a word across", 0x23, run(slices.Concat(across, system(93)), lower, upper).Exit)
	commit := slices.Concat(across, []uint32{rv.Addi(10, 5, -2), rv.Addi(11, 0, 4)}, own(call.Commit), system(93, 0))
	golden.Equal(t, "output across", "\x23\x01\x00\x00", string(run(commit, lower, upper).Output))

	// A call at the last word of the lower half links 2^31.
	const linked = 16 // where it goes to
	top := make([]byte, 4096)
	copy(top, rv.Text(rv.Jal(0, 4092)))
	copy(top[linked:], rv.Text(slices.Concat([]uint32{rv.Lui(6, half), rv.R(rv.OpReg, 4, 0, 10, 1, 6), rv.R(rv.OpReg, 3, 0, 10, 0, 10)}, system(93))...))
	copy(top[4092:], rv.Text(rv.Jal(1, linked-4092)))
	golden.Equal(t, "a link", 0, run([]uint32{rv.Lui(5, half-4096), rv.I(rv.OpJalr, 0, 0, 5, 0)}, rv.Segment{At: half - 4096, Flags: 5, Data: top}).Exit)
}

// TestErrors: the error is the fault, whether there is a profile or not, with that of writing it.
func TestErrors(t *testing.T) {
	p := must.Get(riscv.Load(code([]uint32{0}, nil), nil))(t)
	for _, w := range []io.Writer{nil, io.Discard} {
		_, err := riscv.Run(t.Context(), p, riscv.Options{Profile: w})
		if _, ok := err.(*riscv.Fault); !ok {
			t.Errorf("%T", err)
		}
	}
	r, w := io.Pipe()
	must.Do(t, r.Close())
	_, err := riscv.Run(t.Context(), p, riscv.Options{Profile: w})
	must.Fail(t, err, io.ErrClosedPipe, "a profile that cannot be written")
	golden.Equal(t, "kind", riscv.IllegalInstruction, kindOf(err))

	// A page of code that would be one too many.
	words := rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(rv.Jal(0, 4096)), Memory: 2 * 4096})
	for limit, kind := range map[uint64]riscv.FaultKind{4096: riscv.OutOfMemory, 2 * 4096: riscv.IllegalInstruction} {
		_, err := riscv.Run(t.Context(), must.Get(riscv.Load(words, riscv.RV64IM()))(t), riscv.Options{MemoryLimit: limit})
		golden.Equal(t, "kind", kind, kindOf(err))
	}
	// Of an instruction in two pages the first or the second, beside the page of the stack.
	first := make([]byte, 4096)
	copy(first, rv.Text(rv.Jal(0, 2*4096-2)))
	first[4094] = rv.Nop
	for entry, words := range map[uint64][]uint32{codeAt: {rv.Nop}, codeAt + 4094: nil} {
		parts := []rv.Segment{{At: codeAt, Flags: 5, Data: first, Memory: 2 * 4096}}
		pages := uint64(2)
		if words != nil {
			parts, pages = append(parts, rv.Segment{At: codeAt + 2*4096, Flags: 5, Data: rv.Text(words...)}), 3
		}
		_, err := riscv.Run(t.Context(), must.Get(riscv.Load(rv.ELF(64, entry, parts...), nil))(t), riscv.Options{MemoryLimit: pages * 4096})
		golden.Equal(t, "kind", riscv.OutOfMemory, kindOf(err))
	}
}
