// Package qemutest runs a package's tests for arm64 on processors that this machine is
// not, by QEMU's emulation of Linux programs, and counts the instructions of a function.
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

	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
)

const emulator = "qemu-aarch64"

// Binary is a test binary for arm64.
type Binary struct{ path, emulator string }

// Build compiles the tests of the package in the current folder. It skips short tests, and
// those that find no QEMU unless "qemu" is required (testsize).
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

// Run runs the tests on a processor, named as QEMU's option -cpu does, with more
// environment variables; it returns what they write. Tests that fail fail this one.
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

// RunVectors builds the tests of the package in the current folder and runs them on processors
// with vectors of some lengths and with none, as Run does. What kernels the Goldilocks field
// has on each stands in ZKBENCH_KERNELS.
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

// Count runs the tests like Run, and returns how many instructions of each of the functions
// with these symbols were executed.
func (b Binary) Count(t testing.TB, cpu string, symbols, env []string, args ...string) (instructions []int) {
	t.Helper()
	functions := b.functions(t, symbols)
	var filter []string
	for _, f := range functions {
		filter = append(filter, fmt.Sprintf("%#x+%#x", f.Value, f.Size))
	}
	// Each instruction is translated alone, and the execution of those in the functions'
	// ranges is logged.
	alone := "-one-insn-per-tb"
	if help, err := exec.Command(b.emulator, "-h").Output(); err != nil || !bytes.Contains(help, []byte(alone)) {
		alone = "-singlestep" // before QEMU 8.1
	}
	cmd := exec.Command(b.emulator, append([]string{"-cpu", cpu, alone, "-d", "exec,nochain", "-dfilter", strings.Join(filter, ","), b.path}, args...)...)
	cmd.Env = append(append(os.Environ(), "GOMAXPROCS=1"), env...)
	log := must.Get(cmd.StderrPipe())(t)
	var out bytes.Buffer
	cmd.Stdout = &out
	must.Do(t, cmd.Start())
	instructions = make([]int, len(symbols))
	last := uint64(0)
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		// Trace cpu: address in the host [flags/address/...] symbol.
		fields := strings.Split(lines.Text(), "/")
		if !strings.HasPrefix(fields[0], "Trace ") || len(fields) < 2 {
			continue
		}
		address, err := strconv.ParseUint(fields[1], 16, 64)
		// An instruction before which a signal came in is logged again.
		if err != nil || address == last {
			continue
		}
		last = address
		if at := slices.IndexFunc(functions, func(f elf.Symbol) bool { return f.Value <= address && address < f.Value+f.Size }); at >= 0 {
			instructions[at]++
		}
	}
	_, _ = io.Copy(io.Discard, log)
	if err := cmd.Wait(); err != nil {
		t.Errorf("on %s: %v\n%s", cpu, err, out.String())
	}
	return instructions
}

// functions are those of the binary with these symbols.
func (b Binary) functions(t testing.TB, symbols []string) []elf.Symbol {
	t.Helper()
	file := must.Get(elf.Open(b.path))(t)
	defer file.Close()
	all := must.Get(file.Symbols())(t)
	found := make([]elf.Symbol, len(symbols))
	for i, name := range symbols {
		at := slices.IndexFunc(all, func(s elf.Symbol) bool { return s.Name == name })
		if at < 0 {
			t.Fatalf("the tests' binary has no function %s", name)
		}
		found[i] = all[at]
	}
	return found
}
