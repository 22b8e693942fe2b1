package guest_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/study/peer/guest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/qemutest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// TestExecutes: programs retire exactly as many instructions as they say, whatever their number, and exit with
// what the same loop in Go gives.
func TestExecutes(t *testing.T) {
	t.Parallel()
	for _, loop := range guest.Proved() {
		for _, isa := range []*riscv.ISA{riscv.RV32IM(), riscv.RV64IM()} {
			for n := uint32(300_000); n < 300_020; n++ {
				p := guest.Program{Loop: loop, XLEN: isa.XLEN, System: guest.Linux, Instructions: n}
				r, err := riscv.Run(t.Context(), must.Get(riscv.Load(p.ELF(), isa))(t), riscv.Options{})
				if _, ended := errors.AsType[*riscv.ExitError](err); !ended {
					must.Do(t, err)
				}
				golden.Equal(t, fmt.Sprintf("loop=%s/isa=%v: instructions, exit code", loop.Name, isa), [2]int{int(n), p.Exit()}, [2]int{int(r.Cycles), r.Exit})
			}
		}
	}
}

// TestFor: a program for SP1 differs in its end only, and retires the instructions of its end in addition. Its first call, for
// a commitment, is the seventh of them; it is none of Linux's.
func TestFor(t *testing.T) {
	t.Parallel()
	for _, loop := range guest.Proved() {
		p := guest.Program{Loop: loop, XLEN: 64, System: guest.Linux, Instructions: 300_000}
		q := p.For(guest.SP1)
		back := q.For(guest.Linux)
		golden.Equal(t, loop.Name+": exit code, and for Linux again", [2]int{0, p.Exit()}, [2]int{q.Exit(), back.Exit()})
		text, other := p.ELF(), q.ELF()
		const headers, ends, first = 64 + 2*56, 3 * 4, 7
		golden.Equal(t, loop.Name+": instructions before the end", string(text[headers:len(text)-ends]), string(other[headers:len(text)-ends]))
		r, err := riscv.Run(t.Context(), must.Get(riscv.Load(other, riscv.RV64IM()))(t), riscv.Options{})
		fault, ok := errors.AsType[*riscv.Fault](err)
		if !ok {
			t.Fatalf("%v, want a fault at the first call", err)
		}
		golden.Equal(t, fmt.Sprintf("%s: instructions, and those to the first call (%v)", loop.Name, fault),
			[2]int{int(p.Instructions) + (len(other)-len(text))/4, int(p.Instructions) - ends/4 + first}, [2]int{int(q.Instructions), int(r.Cycles)})
	}
}

// TestQEMU: so does QEMU, which counts only where it does not translate at its full speed.
func TestQEMU(t *testing.T) {
	t.Parallel()
	testsize.Full(t)
	file := filepath.Join(t.TempDir(), "program")
	for _, loop := range guest.Loops() {
		for _, xlen := range []int{32, 64} {
			p := guest.Program{Loop: loop, XLEN: xlen, System: guest.Linux, Instructions: 20_000}
			raw := p.ELF()
			binary.LittleEndian.PutUint32(raw[len(raw)-8:], 0x00000513) // li a0, 0: what counts wants no other exit code
			must.Do(t, os.WriteFile(file, raw, 0o700))
			qemu := qemutest.Program{Emulator: []string{testsize.Program(t, "qemu", fmt.Sprint("qemu-riscv", xlen))}, Args: []string{file}}
			golden.Equal(t, fmt.Sprintf("loop=%s/isa=rv%dim: instructions", loop.Name, xlen), int(p.Instructions), qemu.Instructions(t))
		}
	}
}

// TestFiles: the programs that peers in Rust have are these. Those for Linux have more instructions, beside which
// the start of QEMU is little.
func TestFiles(t *testing.T) {
	t.Parallel()
	testsize.Full(t)
	const short, long = 100_000_000, 2_000_000_000
	dir := filepath.FromSlash("../../../../peers/rust/guests/programs")
	var list strings.Builder
	write := func(name string, p guest.Program) {
		golden.File(t, filepath.Join(dir, name+".elf"), string(p.ELF()))
		fmt.Fprintln(&list, name, p.Instructions, p.Exit())
	}
	for _, loop := range guest.Loops() {
		for _, f := range []struct {
			name string
			guest.Program
		}{
			{"rv32im.linux", guest.Program{Loop: loop, XLEN: 32, System: guest.Linux, Instructions: long}},
			{"rv64im.linux", guest.Program{Loop: loop, XLEN: 64, System: guest.Linux, Instructions: long}},
			{"rv32im.zkvm", guest.Program{Loop: loop, XLEN: 32, System: guest.ZKVM, Instructions: short}},
			{"rv64im.zkvm", guest.Program{Loop: loop, XLEN: 64, System: guest.ZKVM, Instructions: short}},
		} {
			write(loop.Name+"."+f.name, f.Program)
		}
	}
	for _, loop := range guest.Proved() {
		p := guest.Program{Loop: loop, XLEN: 64, System: guest.Linux, Instructions: loop.Proved}
		write(loop.Name+".rv64im.sp1", p.For(guest.SP1))
	}
	golden.File(t, filepath.Join(dir, "list.txt"), list.String())
}
