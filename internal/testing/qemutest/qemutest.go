// Package qemutest runs tests for arm64 under QEMU's emulation of Linux programs: on machines that are not arm64, and
// on processors with different vector lengths. It also counts the instructions that programs execute under QEMU.
package qemutest

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

const emulator = "qemu-aarch64"

// Binary is a test binary for Linux on arm64.
type Binary struct{ path, emulator string }

// Build compiles the tests of the package in the current folder. It skips short tests. If there is no QEMU, it skips
// the test too, unless ZKBENCH_REQUIRE names "qemu" (see package testsize).
func Build(t testing.TB) Binary {
	t.Helper()
	testsize.Full(t)
	path := testsize.Program(t, "qemu", emulator)
	b := Binary{path: filepath.Join(t.TempDir(), "arm64.test"), emulator: path}
	cmd := exec.Command("go", "test", "-c", "-o", b.path, ".")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the tests do not compile for arm64: %v\n%s", err, out)
	}
	return b
}

// Run runs the tests on an emulated processor and returns their output. The parameter cpu names the processor, in the
// form of QEMU's option -cpu, and env adds environment variables. If the tests fail, Run fails t.
func (b Binary) Run(t testing.TB, cpu string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command(b.emulator, append([]string{"-cpu", cpu, b.path}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("on %s: %v\n%s", cpu, err, out)
	}
	return string(out)
}

// RunVectors builds the tests of the package in the current folder and runs them on several processors with Run. One
// processor has no vector instructions, and the others have vectors of several lengths. On each processor, the
// environment variable ZKBENCH_KERNELS tells the tests which kernels of the Goldilocks field must be available.
func RunVectors(t *testing.T, args ...string) {
	t.Helper()
	b := Build(t)
	for _, p := range []struct{ cpu, kernels string }{
		{"cortex-a57", "[portable]"},
		{"a64fx", "[portable sve]"},
		{"max,sve-max-vq=1", "[portable sve sve2]"},
		{"max,sve-max-vq=2", "[portable sve sve2]"},
		{"max,sve-max-vq=4", "[portable sve sve2]"},
		{"max,sve-max-vq=16,sve-default-vector-length=256", "[portable sve sve2]"},
	} {
		t.Run("cpu="+p.cpu, func(t *testing.T) {
			t.Parallel()
			b.Run(t, p.cpu, []string{"ZKBENCH_KERNELS=" + p.kernels}, args...)
		})
	}
}

// Count runs the tests like Run, with GOMAXPROCS=1. For each of the symbols, it returns how many instructions of the
// function with this symbol were executed.
func (b Binary) Count(t testing.TB, cpu string, symbols, env []string, args ...string) (instructions []int) {
	t.Helper()
	p := Program{Emulator: []string{b.emulator, "-cpu", cpu}, Args: append([]string{b.path}, args...), Env: append([]string{"GOMAXPROCS=1"}, env...)}
	return p.Functions(t, symbols)
}

// Program is a program to run under QEMU.
type Program struct {
	Emulator []string // the path of QEMU, and its options
	Args     []string // the path of the program, and its arguments
	Env      []string // additional environment variables
}

// Instructions runs a program and returns how many instructions it executed.
func (p Program) Instructions(t testing.TB) (n int) {
	t.Helper()
	p.trace(t, nil, func(string, uint64) { n++ })
	return n
}

// Functions runs a program. For each of the symbols, it returns how many instructions the program executed in the
// function with this symbol.
func (p Program) Functions(t testing.TB, symbols []string) (instructions []int) {
	t.Helper()
	functions := find(t, p.Args[0], symbols)
	var ranges []string
	for _, f := range functions {
		ranges = append(ranges, fmt.Sprintf("%#x+%#x", f.Value, f.Size))
	}
	instructions = make([]int, len(symbols))
	p.trace(t, ranges, func(_ string, address uint64) {
		if at := slices.IndexFunc(functions, func(f elf.Symbol) bool { return f.Value <= address && address < f.Value+f.Size }); at >= 0 {
			instructions[at]++
		}
	})
	return instructions
}

// Between runs a program and returns the numbers of instructions between successive calls of a function. Instructions
// are counted for each thread.
func (p Program) Between(t testing.TB, symbol string) (instructions []int) {
	t.Helper()
	start := find(t, p.Args[0], []string{symbol})[0].Value
	since := make(map[string]int) // the last call, by thread
	p.trace(t, nil, func(thread string, address uint64) {
		n, called := since[thread]
		switch {
		case address == start && called:
			instructions = append(instructions, n)
			fallthrough
		case address == start:
			since[thread] = 1
		case called:
			since[thread] = n + 1
		}
	})
	return instructions
}

// trace runs a program and calls executed with the thread and the address of each instruction. If there are ranges, it
// calls executed only for addresses in them. If the program fails, trace fails t.
func (p Program) trace(t testing.TB, ranges []string, executed func(thread string, address uint64)) {
	t.Helper()
	// Each instruction is translated alone, and its execution logged.
	alone := "-one-insn-per-tb"
	if help, err := exec.Command(p.Emulator[0], "-h").Output(); err != nil || !bytes.Contains(help, []byte(alone)) {
		alone = "-singlestep" // before QEMU 8.1
	}
	options := append(p.Emulator[1:len(p.Emulator):len(p.Emulator)], alone, "-d", "exec,nochain")
	if len(ranges) > 0 {
		options = append(options, "-dfilter", strings.Join(ranges, ","))
	}
	cmd := exec.Command(p.Emulator[0], append(options, p.Args...)...)
	cmd.Env = append(os.Environ(), p.Env...)
	log := must.Get(cmd.StderrPipe())(t)
	var out bytes.Buffer
	cmd.Stdout = &out
	must.Do(t, cmd.Start())
	last := make(map[string]uint64) // by thread
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		// Trace thread: address in the host [flags/address/...] symbol.
		fields := strings.Split(lines.Text(), "/")
		if !strings.HasPrefix(fields[0], "Trace ") || len(fields) < 2 {
			continue
		}
		address, err := strconv.ParseUint(fields[1], 16, 64)
		thread, _, _ := strings.Cut(fields[0], ":")
		// If a signal arrives before an instruction, the instruction is logged twice.
		if err != nil || address == last[thread] {
			continue
		}
		last[thread] = address
		executed(thread, address)
	}
	_, _ = io.Copy(io.Discard, log)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %v\n%s", p.Emulator, err, out.String())
	}
}

// find returns the symbols with the given names in a program.
func find(t testing.TB, path string, names []string) []elf.Symbol {
	t.Helper()
	file := must.Get(elf.Open(path))(t)
	defer file.Close()
	all := must.Get(file.Symbols())(t)
	found := make([]elf.Symbol, len(names))
	for i, name := range names {
		at := slices.IndexFunc(all, func(s elf.Symbol) bool { return s.Name == name })
		if at < 0 {
			t.Fatalf("%s has no function %s", path, name)
		}
		found[i] = all[at]
	}
	return found
}
