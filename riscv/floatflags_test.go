package riscv_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// TestFlags: operations next to the ends of double precision raise what they do on QEMU's processor: NX 1, UF 2, OF 4, DZ 8,
// NV 16.
func TestFlags(t *testing.T) {
	const (
		one, infinite, quiet, signalling = 0x3ff << 52, 0x7ff << 52, 0x7ff8 << 48, 0x7ff4 << 48
		least, greatest, sign            = 1 << 52, 0x7fe<<52 | (1<<52 - 1), 1 << 63
		unit                             = 1 // 2^-1074
		below, above                     = 0x3ff<<52 - 1, 0x3ff<<52 + 1
	)
	power := func(e int) uint64 { return uint64(0x3ff+e) << 52 }
	fmadd := uint32(12<<27 | 1<<25 | 11<<20 | 10<<15 | 10<<7 | rv.OpMadd) // fmadd.d fa0, fa0, fa1, fa2
	op := func(f7 uint32) uint32 { return rv.R(rv.OpFP, 0, f7<<2|1, 10, 10, 11) }
	add, mul, div := op(0), op(2), op(3)
	root := rv.R(rv.OpFP, 0, 0x0b<<2|1, 10, 10, 0)
	for name, test := range map[string]struct {
		op      uint32
		a, b, c uint64
		flags   int
	}{
		"exact":                                {fmadd, one, power(5), power(50), 0},
		"a bit is lost":                        {fmadd, one, one, power(60), 1},
		"a product's bit is lost":              {mul, above, above, 0, 1},
		"a small product is exact":             {mul, power(-500), power(-500), 0, 0},
		"a tiny product is exact":              {mul, power(-500), power(-574), 0, 0},
		"a tiny product is lost":               {mul, power(-500), power(-600), 0, 3},
		"half a unit below the least":          {mul, power(1) - 1, least >> 1, 0, 3},
		"a quarter of a unit below the least":  {fmadd, power(-538) | sign, power(-538), least, 1},
		"more than a quarter":                  {fmadd, power(-538) | 1<<51 | sign, power(-538), least, 3},
		"less than a quarter":                  {fmadd, power(-539) | sign, power(-539), least, 1},
		"the sum of two below the least":       {add, least - 1, unit, 0, 0},
		"a quotient below the least":           {div, least, above, 0, 3},
		"a quotient at the least":              {div, least, one, 0, 0},
		"a quotient just above the least":      {div, least, below, 0, 1},
		"a quotient of small numbers is exact": {div, 3 * unit, unit, 0, 0},
		"a quotient of small numbers":          {div, unit, 3 * unit, 0, 1},
		"too large":                            {mul, greatest, power(1), 0, 5},
		"too large by a sum":                   {add, greatest, power(970), 0, 5},
		"the greatest":                         {add, greatest, power(969), 0, 1},
		"by zero":                              {div, one, 0, 0, 8},
		"zero by zero":                         {div, 0, 0, 0, 16},
		"infinite by zero":                     {div, infinite, 0, 0, 0},
		"infinite less infinite":               {add, infinite, infinite | sign, 0, 16},
		"infinite by zero, and a quiet NaN":    {fmadd, infinite, 0, quiet, 16},
		"a quiet NaN":                          {add, quiet, one, 0, 0},
		"a signalling NaN":                     {add, signalling, one, 0, 16},
		"the root of a small number":           {root, 2 * unit, 0, 0, 1},
		"the root of a small square":           {root, 4 * unit, 0, 0, 0},
		"the root of less than zero":           {root, one | sign, 0, 0, 16},
		"the root of minus zero":               {root, sign, 0, 0, 0},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			words := []uint32{rv.Lui(5, dataAt)}
			for i := range uint32(3) {
				words = append(words, rv.I(rv.OpLoadFP, 3, 10+i, 5, int32(8*i)))
			}
			const readFlags = 1<<20 | 2<<12 | 10<<7 | rv.OpSystem // frflags a0
			raw := code(slices.Concat(words, []uint32{test.op, readFlags}, system(exitGroup)), binary.LittleEndian.AppendUint64(
				binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, test.a), test.b), test.c))
			p := must.Get(riscv.Load(raw, nil))(t)
			golden.Equal(t, "flags", test.flags, must.Get(ended(riscv.Run(t.Context(), p, riscv.Options{})))(t).Exit)
			if testing.Short() {
				return
			}
			path := filepath.Join(t.TempDir(), "program")
			must.Do(t, os.WriteFile(path, raw, 0o700))
			cmd := exec.CommandContext(t.Context(), testsize.Program(t, "qemu", "qemu-riscv64"), path)
			_ = cmd.Run()
			golden.Equal(t, fmt.Sprintf("flags on QEMU of %#x", test.op), test.flags, cmd.ProcessState.ExitCode())
		})
	}
}

// TestFlagRegisters: the flags, the rounding mode and both together are read and written.
func TestFlagRegisters(t *testing.T) {
	const flags, mode, both = 1, 2, 3
	csr := func(kind, number, rd, source uint32) uint32 {
		return number<<20 | source<<15 | kind<<12 | rd<<7 | rv.OpSystem
	}
	read := func(number uint32) uint32 { return csr(2, number, 10, 0) }
	for name, test := range map[string]struct {
		words []uint32
		exit  int
		kind  riscv.FaultKind
	}{
		"none at first":           {[]uint32{read(both)}, 0, 0},
		"set":                     {[]uint32{csr(5, flags, 0, 21), read(flags)}, 21, 0},
		"set, both":               {[]uint32{csr(5, both, 0, 21), read(flags)}, 21, 0},
		"more are set":            {[]uint32{csr(5, flags, 0, 1), csr(6, flags, 0, 4), read(both)}, 5, 0},
		"some are cleared":        {[]uint32{csr(5, flags, 0, 31), csr(7, flags, 0, 3), read(flags)}, 28, 0},
		"exchanged":               {[]uint32{csr(5, flags, 0, 9), csr(5, flags, 10, 2)}, 9, 0},
		"bits above are not kept": {slices.Concat(number(6, 0x7e0+3), []uint32{csr(1, flags, 0, 6), read(flags)}), 3, 0},
		"the mode is to nearest":  {[]uint32{csr(5, flags, 0, 21), csr(5, mode, 10, 0)}, 0, 0},
		"another mode":            {[]uint32{csr(6, mode, 0, 1)}, 0, riscv.Unsupported},
		"another mode, of both":   {slices.Concat(number(6, 0x20), []uint32{csr(1, both, 0, 6)}), 0, riscv.Unsupported},
	} {
		p := must.Get(riscv.Load(code(slices.Concat(test.words, system(exitGroup)), nil), nil))(t)
		r, err := riscv.Run(t.Context(), p, riscv.Options{})
		golden.Equal(t, name+": kind", test.kind, kindOf(err))
		golden.Equal(t, name, test.exit, r.Exit)
	}
	bare := rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(read(flags))})
	_, err := riscv.Run(t.Context(), must.Get(riscv.Load(bare, riscv.RV64IM()))(t), riscv.Options{})
	golden.Equal(t, "without floating point", riscv.IllegalInstruction, kindOf(err))
}
