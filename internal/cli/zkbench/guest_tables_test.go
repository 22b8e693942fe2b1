package zkbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/zkvm"
)

// countedCells returns the cells of all tables that guest cost has counted.
func countedCells(t *testing.T, out string) float64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^guest prove, counted:  \(all\) +([0-9,]+)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("no count of cells:\n%s", out)
	}
	return must.Get(strconv.ParseFloat(strings.ReplaceAll(found[1], ",", ""), 64))(t)
}

// TestGuestCostOfProofs: what guest cost counts of a guest in C or C++ is what its proof has, or guest cost says why there is no
// proof.
func TestGuestCostOfProofs(t *testing.T) {
	testsize.Full(t)
	compilerOfC(t, nil)
	compilerOfCxx(t, nil)
	var words []byte
	for _, word := range []uint64{1000, 1, 2} {
		words = binary.LittleEndian.AppendUint64(words, word)
	}
	inputs := map[string][]byte{"loop.c": words, "hash.c": make([]byte, 3000), "echo.c": []byte("some input")}
	without := map[string]string{ // a proof
		"sections.c":   " precompile fp2-add, ",
		"misaligned.c": " misaligned access",
		"memory.c":     "cycles fit no form; ",
	}
	f := files{t, t.TempDir()}
	var sources []string
	for _, pattern := range []string{"examples/guest/*.c", "riscv/c/testdata/*.c", "riscv/c/testdata/*.cpp", "internal/workload/guest/bare/*.c"} {
		sources = append(sources, must.Get(filepath.Glob(filepath.Join("../../..", pattern)))(t)...)
	}
	for _, source := range sources {
		name := filepath.Base(source)
		t.Run(name, func(t *testing.T) {
			if name == "memory.c" && !testsize.Long() {
				t.Skip("48 million cycles")
			}
			args := []string{"../../../riscv/c/cc.sh", "rv64im", "-O2", source, "-o", f.path("guest.elf")}
			if filepath.Ext(name) == ".cpp" {
				args = append(args, "-std=c++20")
			}
			if out, err := exec.CommandContext(t.Context(), "sh", args...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			f.write("in.bin", inputs[name])
			out, _ := f.guest(cli.ExitOK, "cost guest.elf --isa rv64im --misaligned --speed 1 --input in.bin")
			if says := without[name]; says != "" {
				golden.Contains(t, out, says)
				return
			}
			p := must.Get(zkvm.Load(must.Get(os.ReadFile(f.path("guest.elf")))(t)))(t)
			planned := errors.New("planned")
			var plan zkvm.Plan
			_, _, err := p.Prove(t.Context(), executor.Serial(), inputs[name], zkvm.About{}, zkvm.Options{Plan: func(of zkvm.Plan) error {
				plan = of
				return planned
			}})
			must.Fail(t, err, planned, "a proof that is planned")
			if counted := countedCells(t, out); math.Abs(counted/float64(plan.Cells)-1) > 0.1 {
				t.Errorf("%.0f cells, and the proof has %d", counted, plan.Cells)
			}
			golden.Contains(t, out, fmt.Sprintf("counted: %s cycles fit the form ", grouped(plan.Cycles)))
			again, _ := f.guest(cli.ExitOK, "cost guest.elf --speed 1 --input in.bin")
			golden.Equal(t, "cells without a set of instructions", countedCells(t, out), countedCells(t, again))
		})
	}
	golden.Equal(t, "guests without a proof are there", true, len(sources) > len(without)+3)
}

// TestGuestCostOfStudy: the programs of the study of pairings take at most 160 cells a cycle, as docs/zkvm.md says.
func TestGuestCostOfStudy(t *testing.T) {
	if !testsize.Long() {
		t.Skip("240 million cycles")
	}
	f := files{t, t.TempDir()}
	f.guest(cli.ExitOK, "input pairing --output secrets.bin")
	for _, tags := range []string{"none", "bigint", "bigint,precompile", "precompile"} {
		out, _ := f.guest(cli.ExitOK, "cost ../../../riscv/guests/pairing --speed 1 --input secrets.bin --tags "+tags)
		found := regexp.MustCompile(`(?m)^guest prove, counted:  \(all\) .* ([0-9.]+)$`).FindStringSubmatch(out)
		if found == nil || must.Get(strconv.ParseFloat(found[1], 64))(t) > 160 {
			t.Errorf("%s: more than 160 cells a cycle:\n%s", tags, out)
		}
	}
}

// TestGuestCostTables: guest cost says what has no proof, and counts no section and no program for 32 bits.
func TestGuestCostTables(t *testing.T) {
	f := files{t, t.TempDir()}
	f.write("atomic.elf", bare(5, 0, rv.Lui(10, 0x10000), rv.R(rv.OpAmo, 3, 2<<2, 11, 10, 0), rv.R(rv.OpAmo, 3, 2<<2, 11, 10, 0)))
	f.write("echo.elf", echo(0))
	f.write("narrow.elf", rv.ELF(32, 0x10000, rv.Segment{At: 0x10000, Flags: 5, Data: rv.Text(rv.Addi(10, 0, 0), rv.Addi(17, 0, 93), rv.Ecall)}))
	for _, test := range []struct{ words, says string }{
		{"cost atomic.elf --speed 1", "guest prove, counted: 2 other instructions have no proof: 2 lr.d\n"},
		{"cost echo.elf --speed 1", "guest prove, counted: 9 cycles fit the form \"short loops, 2^14 cycles\"\n"},
		{"cost narrow.elf --speed 1", "guest prove, not counted: invalid parameters: a program for RV32IM, accepted is one for 64 bits\n"},
	} {
		out, _ := f.guest(cli.ExitOK, test.words)
		golden.Contains(t, out, test.says)
	}
}
