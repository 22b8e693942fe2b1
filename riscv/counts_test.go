package riscv_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/guesttest"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/qemutest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// TestCounts: cycles are the instructions that QEMU logs, to one: of all that a bare program executes, and of
// functions and between marks of a program of Go, whose start depends on the clock and the threads of the machine.
func TestCounts(t *testing.T) {
	testsize.Full(t)
	emulators := map[int]string{
		64: testsize.Program(t, "qemu", "qemu-riscv64"),
		32: testsize.Program(t, "qemu", "qemu-riscv32"),
	}
	file := filepath.Join(t.TempDir(), "program")
	compare := func(t *testing.T, what string, raw []byte, isa *riscv.ISA, o riscv.Options) {
		t.Helper()
		must.Do(t, os.WriteFile(file, raw, 0o700))
		p := must.Get(riscv.Load(raw, isa))(t)
		r := must.Get(riscv.Run(t.Context(), p, o))(t)
		qemu := qemutest.Program{Emulator: []string{emulators[p.ISA.XLEN]}, Args: []string{file}}
		golden.Equal(t, what, uint64(qemu.Instructions(t)), r.Cycles)
	}
	t.Run("riscv-tests", func(t *testing.T) {
		for _, o := range suite(t) {
			if !o.selfModifying() {
				compare(t, o.name, o.raw, o.isa, o.options())
			}
		}
	})
	t.Run("random", func(t *testing.T) {
		for range testsize.Pick(1, 10, 1_000) {
			seed := rand.Uint64()
			for _, random := range []func(uint64, int) []byte{guesttest.Linux, guesttest.Linux32} {
				compare(t, fmt.Sprint("seed ", seed), random(seed, 300), nil, riscv.Options{Misaligned: true})
			}
		}
	})
	t.Run("Go", func(t *testing.T) {
		path, p := guest(t, "loops")
		functions := []string{"main.primes", "main.steps", "main.norm", "main.digest"}
		qemu := qemutest.Program{Emulator: []string{emulators[64]}, Args: []string{path}, Env: []string{"GOGC=off", "GODEBUG=asyncpreemptoff=1"}}
		want := qemu.Functions(t, functions)
		r := must.Get(riscv.Run(t.Context(), p, riscv.Options{Env: []string{"GOGC=off"}}))(t)
		for i, name := range functions {
			got := uint64(0)
			for _, f := range r.Functions {
				if f.Name == name {
					got += f.Total()
				}
			}
			golden.Equal(t, name, uint64(want[i]), got)
			golden.Within(t, name, 1_000, got, 1_000_000)
		}
		between := qemu.Between(t, "github.com/zkbench/zkbench/riscv/guest.ecall.abi0")
		golden.Equal(t, "between the marks", []int{int(r.Sections[0].Cycles)}, between)
	})
}

// outcome returns everything that a run of a guest gives, as text.
func outcome(t testing.TB, p *riscv.Program, o riscv.Options) string {
	t.Helper()
	var out bytes.Buffer
	o.Stdout = &out
	r, err := riscv.Run(t.Context(), p, o)
	return outcomeOf(r, err) + fmt.Sprintf(" %q", out.String())
}

func outcomeOf(r *riscv.Result, err error) string { return fmt.Sprintf("%+v %v", r, err) }

// TestRuns: in a hundred runs a guest with goroutines, timers and collections retires the same instructions of
// the same functions, on one processor and on several at once.
func TestRuns(t *testing.T) {
	testsize.Full(t)
	_, p := guest(t, "guest")
	o := riscv.Options{Args: []string{"2"}, Input: []byte("some input")}
	first := outcome(t, p, o)
	for _, procs := range []int{1, 2} {
		t.Run(fmt.Sprintf("procs=%d", procs), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			var wg sync.WaitGroup
			for range procs {
				wg.Go(func() {
					for range 50 / procs {
						if again := outcome(t, p, o); again != first {
							t.Errorf("another run: %s, want %s", again, first)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// otherMachine is set when TestMachines runs this test on another machine. It is the path of the guest; the
// outcome on this machine is beside it, in a file named .outcome.
const otherMachine = "ZKBENCH_RISCV_GUEST"

// TestMachines: on a processor of arm64 guests do what they do here, to the cycle.
func TestMachines(t *testing.T) {
	o := riscv.Options{Args: []string{"1"}, Input: []byte("some input")}
	if path := os.Getenv(otherMachine); path != "" {
		p := must.Get(riscv.Load(must.Get(os.ReadFile(path))(t), nil))(t)
		golden.Equal(t, "outcome", string(must.Get(os.ReadFile(path+".outcome"))(t)), outcome(t, p, o))
		return
	}
	b := qemutest.Build(t)
	for _, name := range []string{"guest", "loops"} {
		path, p := guest(t, name)
		must.Do(t, os.WriteFile(path+".outcome", []byte(outcome(t, p, o)), 0o600))
		out := b.Run(t, "cortex-a57", []string{otherMachine + "=" + path}, "-test.v", "-test.run=^Test(Machines|Official)$")
		golden.Equal(t, "tests that passed there", 2, strings.Count(out, "\n--- PASS: "))
	}
}
