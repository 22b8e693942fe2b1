package riscv_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
)

// official is a program of riscv-tests, the suite of RISC-V International, as testdata/riscv-tests/build.sh
// builds it. Its exit code is 0, or the number of the test that failed.
type official struct {
	name string // of the instruction set, the room of the suite, and the program
	isa  *riscv.ISA
	raw  []byte
}

// officialPrograms is the number of programs in the archive for each instruction set: all user-mode programs
// of the suite. For RV64GC these are the programs for I, M, A, F, D and C, for the others those for I and M.
var officialPrograms = map[string]int{"rv64gc": 110, "rv64im": 67, "rv32im": 50}

// suite returns the programs in the archive.
func suite(t testing.TB) (all []official) {
	t.Helper()
	file := must.Get(os.Open("testdata/riscv-tests/programs.tar.gz"))(t)
	defer file.Close()
	archive := tar.NewReader(must.Get(gzip.NewReader(file))(t))
	sets := map[string]*riscv.ISA{"rv64gc": riscv.RV64GC(), "rv64im": riscv.RV64IM(), "rv32im": riscv.RV32IM()}
	found, licensed := make(map[string]int), false
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(t, err)
		if header.Name == "LICENSE" { // stands beside the programs too
			golden.Equal(t, "the licence of the suite", string(must.Get(os.ReadFile("testdata/riscv-tests/LICENSE"))(t)), string(must.Get(io.ReadAll(archive))(t)))
			licensed = true
		}
		set, _, _ := strings.Cut(header.Name, "/")
		if sets[set] == nil || header.Typeflag != tar.TypeReg {
			continue
		}
		found[set]++
		all = append(all, official{name: header.Name, isa: sets[set], raw: must.Get(io.ReadAll(archive))(t)})
	}
	golden.Equal(t, "programs", officialPrograms, found)
	golden.Equal(t, "a licence in the archive", true, licensed)
	return all
}

// options returns how to run a program. Only the one for misaligned words may access them.
func (o official) options() riscv.Options {
	return riscv.Options{Misaligned: strings.HasSuffix(o.name, "-ma_data")}
}

// selfModifying reports whether a program writes instructions to its data and jumps there, like the suite's
// test of fence.i. This executor has no code there.
func (o official) selfModifying() bool { return strings.HasSuffix(o.name, "-fence_i") }

// TestOfficial: the programs of riscv-tests find nothing wrong, flags of floating point included, and take the cycles that
// they take everywhere.
func TestOfficial(t *testing.T) {
	var cycles strings.Builder
	for _, o := range suite(t) {
		p := must.Get(riscv.Load(o.raw, o.isa))(t)
		r, err := riscv.Run(t.Context(), p, o.options())
		fmt.Fprintln(&cycles, o.name, r.Cycles)
		t.Run(o.name, func(t *testing.T) {
			if o.selfModifying() {
				if fault, ok := errors.AsType[*riscv.Fault](err); !ok || fault.Kind != riscv.WildJump {
					t.Errorf("%v, want a %v", err, riscv.WildJump)
				}
				return
			}
			must.Do(t, err) // an *riscv.ExitError has the number of the test that failed
		})
	}
	golden.File(t, "testdata/riscv-tests/cycles.txt", cycles.String())
}
