package riscv_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// plainCPU is QEMU's processor without the extensions that it has in addition to RV64GC.
const plainCPU = "rv64,zba=false,zbb=false,zbc=false,zbs=false"

// signals holds the signals that end a program under Linux, indexed by the kind of fault.
var signals = map[riscv.FaultKind]syscall.Signal{
	riscv.IllegalInstruction: syscall.SIGILL,
	riscv.WildAccess:         syscall.SIGSEGV,
	riscv.WildJump:           syscall.SIGSEGV,
	riscv.WriteToCode:        syscall.SIGSEGV,
	riscv.Aborted:            syscall.SIGTRAP, // of ebreak
}

// TestExceptions: a program that begins with any word ends as it does under QEMU: by itself, or by the
// signal that stands for our fault.
func TestExceptions(t *testing.T) {
	testsize.Full(t)
	emulator := testsize.Program(t, "qemu", "qemu-riscv64")
	file := filepath.Join(t.TempDir(), "program")
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	ends := make(map[string]int)
	toData := rv.Lui(2, dataAt+4096) // lui sp, of what Linux gives more
	for range testsize.Pick(1, 200, 20_000) {
		w := r.Uint32()
		if r.IntN(4) > 0 {
			w |= 3 // four bytes
		}
		if w&0x7f == 0x73 && w != 0x00100073 { // calls, and registers of control, of which QEMU has more
			continue
		}
		raw := code([]uint32{toData, w, 0x00010001, rv.Addi(17, 0, 93), rv.Addi(10, 0, 0), rv.Ecall}, make([]byte, 64))
		p := must.Get(riscv.Load(raw, nil))(t)
		_, err := riscv.Run(t.Context(), p, riscv.Options{CycleLimit: 10_000, Misaligned: true})
		want := "exit status 0"
		if fault, ok := errors.AsType[*riscv.Fault](err); ok {
			signal, known := signals[fault.Kind]
			if !known { // another rounding mode, a loop, an atomic access that is not aligned
				ends[fault.Kind.String()]++
				continue
			}
			want = "signal: " + signal.String()
		}
		ends[want]++
		must.Do(t, os.WriteFile(file, raw, 0o700))
		cmd := exec.CommandContext(t.Context(), emulator, "-cpu", plainCPU, file)
		_ = cmd.Run() // its state says how it ended
		state := cmd.ProcessState.Sys().(syscall.WaitStatus)
		got := fmt.Sprint("exit status ", state.ExitStatus())
		if state.Signaled() {
			got = "signal: " + state.Signal().String()
		}
		golden.Equal(t, fmt.Sprintf("seed %d: %#08x, %v", seed, w, err), want, got)
	}
	t.Log(ends)
	for _, end := range []string{"exit status 0", "signal: " + syscall.SIGILL.String(), "signal: " + syscall.SIGSEGV.String()} {
		golden.Within(t, end, 10, ends[end], 1_000_000)
	}
}
