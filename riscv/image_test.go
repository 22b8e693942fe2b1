package riscv_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// TestInstructions: each instruction is followed by the one that runs next, and data do not hide the code after them.
func TestInstructions(t *testing.T) {
	half := binary.LittleEndian.AppendUint16
	const (
		compressed = 0x0505 // c.addi a0, 1
		wide       = 0x0003 // the first half of an instruction of four bytes
	)
	var data []byte
	for _, h := range []uint16{compressed, wide} {
		data = half(data, h)
	}
	mixed := slices.Concat(rv.Text(rv.Addi(10, 10, -1), rv.B(1, 10, 0, -4)), data, rv.Text(rv.Ecall), half(nil, wide))
	for name, test := range map[string]struct {
		isa      *riscv.ISA
		segments []rv.Segment
		labels   []label
		want     []string
	}{
		"one": {riscv.RV64IM(), []rv.Segment{{At: codeAt, Flags: 5, Data: rv.Text(rv.Addi(0, 0, 0), 0x00001517, 0x00001537, rv.Jal(1, -12), rv.S(rv.OpStore, 3, 2, 10, -8), 0)}}, nil, []string{
			"{65536 4 addi 32 0 0 0}", "{65540 4 lui 10 0 0 69636}", "{65544 4 lui 10 0 0 4096}", "{65548 4 jal 1 0 0 65536}",
			"{65552 4 sd 32 2 10 -8}", "{65556 4  32 0 0 0}", "{65560 0  32 0 0 0}",
		}},
		"data of two bytes": {riscv.RV64IMC(), []rv.Segment{{At: codeAt, Flags: 5, Data: mixed}}, nil, []string{
			"{65536 4 addi 10 10 0 -1}", "{65540 4 bne 32 10 0 65536}", "{65544 2 addi 10 10 0 1}", // the half before hides ecall
			"{65546 4 lb 32 6 0 7}", "{65550 2  32 0 0 0}", "{65552 0  32 0 0 0}",
		}},
		"data before a function": {riscv.RV64IMC(), []rv.Segment{{At: codeAt, Flags: 5, Data: mixed}}, []label{{"f", 2, codeAt + 12}}, []string{
			"{65536 4 addi 10 10 0 -1}", "{65540 4 bne 32 10 0 65536}", "{65544 2 addi 10 10 0 1}",
			"{65546 2  32 0 0 3}", "{65548 4 ecall 32 0 0 0}", "{65552 0  32 0 0 0}",
		}},
		"data of four bytes": {riscv.RV64IM(), []rv.Segment{{At: codeAt, Flags: 5, Data: mixed}}, []label{{"f", 2, codeAt + 10}}, []string{
			"{65536 4 addi 10 10 0 -1}", "{65540 4 bne 32 10 0 65536}", "{65544 4  32 0 0 1285}", "{65548 4 ecall 32 0 0 0}", "{65552 0  32 0 0 0}",
		}},
		"segments": {riscv.RV64IM(), []rv.Segment{
			{At: codeAt, Flags: 5, Data: rv.Text(rv.Nop)}, {At: codeAt + 4, Flags: 1, Data: rv.Text(rv.Nop)}, // without a gap
			{At: dataAt, Flags: 6, Data: rv.Text(rv.Nop)}, {At: dataAt + 0x1002, Flags: 5, Data: append([]byte{0, 0}, rv.Text(rv.Ecall)...), Memory: 1 << 30},
		}, nil, []string{
			"{65536 4 addi 32 0 0 0}", "{65540 4 addi 32 0 0 0}", "{65544 0  32 0 0 0}", "{2101252 4 ecall 32 0 0 0}", "{2101256 0  32 0 0 0}",
		}},
		"32 bits": {riscv.RV32IM(), []rv.Segment{{At: 0x80000000, Flags: 5, Data: rv.Text(rv.R(rv.OpReg, 0, 1, 5, 6, 7), 0x00001517)}}, nil, []string{
			"{18446744071562067968 4 mulw 5 6 7 0}", "{18446744071562067972 4 lui 10 0 0 -2147479548}", "{18446744071562067976 0  32 0 0 0}",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			raw := withSymbols(rv.ELF(test.isa.XLEN, test.segments[0].At, test.segments...), test.labels...)
			p := must.Get(riscv.Load(raw, test.isa))(t)
			var got []string
			for _, in := range p.Instructions() {
				got = append(got, fmt.Sprint(in))
			}
			golden.Equal(t, "instructions", strings.Join(test.want, "\n"), strings.Join(got, "\n"))
		})
	}
}

// TestDisassembly: objdump gives the instructions of the official programs the same names, registers and immediates.
func TestDisassembly(t *testing.T) {
	testsize.Full(t)
	objdump := testsize.Program(t, "riscv-gcc", "riscv64-linux-gnu-objdump")
	line := regexp.MustCompile(`(?m)^ *([0-9a-f]+):\t([0-9a-f]+) +\t(\S+)(?:\t(\S+))?`)
	path := filepath.Join(t.TempDir(), "program")
	compared := make(map[string]bool)
	for _, o := range suite(t) {
		compressed := o.name == "rv64gc/rv64uc-rvc"
		if o.isa.XLEN != 64 || o.isa.Compressed != compressed {
			continue
		}
		must.Do(t, os.WriteFile(path, o.raw, 0o600))
		p := must.Get(riscv.Load(o.raw, o.isa))(t)
		all := make(map[uint64]riscv.Instruction)
		for _, in := range p.Instructions() {
			all[in.Address] = in
		}
		out := must.Get(exec.CommandContext(t.Context(), objdump, "-d", "-M", "no-aliases,numeric", path).Output())(t)
		for _, m := range line.FindAllStringSubmatch(string(out), -1) {
			in := all[must.Get(strconv.ParseUint(m[1], 16, 64))(t)]
			golden.Equal(t, o.name+": bytes at "+m[1], len(m[2])/2, in.Size)
			if compressed {
				continue // objdump does not expand them
			}
			op := m[3]
			switch op {
			case "auipc":
				op = "lui"
			case "fence.i":
				op = "fence"
			}
			if strings.HasPrefix(op, "csr") {
				op = "csr"
			}
			if !strings.HasPrefix(op, ".") && op != "fence" && op != "csr" {
				golden.Equal(t, fmt.Sprintf("%s: operands of %s at %s", o.name, m[3], m[1]), strings.ReplaceAll(m[4], "0x", ""), operands(in, m[3]))
			}
			if !strings.HasPrefix(op, ".") {
				golden.Equal(t, o.name+": name at "+m[1], op, in.Op)
				compared[op] = true
			}
		}
	}
	golden.Equal(t, "names", 64, len(compared)) // 50 of I without auipc and ebreak, 13 of M, and csr
}

// operands returns the operands of an instruction as objdump writes them, without 0x.
func operands(in riscv.Instruction, op string) string {
	rd := in.Rd % 32
	switch {
	case op == "lui":
		return fmt.Sprintf("x%d,%x", rd, in.Imm>>12&0xfffff)
	case op == "auipc":
		return fmt.Sprintf("x%d,%x", rd, (in.Imm-int64(in.Address))>>12&0xfffff)
	case op == "jal":
		return fmt.Sprintf("x%d,%x", rd, in.Imm)
	case in.Op[0] == 'b':
		return fmt.Sprintf("x%d,x%d,%x", in.Rs1, in.Rs2, in.Imm)
	case accessed(in.Op) > 0 && in.Op[0] == 's':
		return fmt.Sprintf("x%d,%d(x%d)", in.Rs2, in.Imm, in.Rs1)
	case accessed(in.Op) > 0, op == "jalr":
		return fmt.Sprintf("x%d,%d(x%d)", rd, in.Imm, in.Rs1)
	case op == "ecall", op == "ebreak":
		return ""
	case slices.Contains([]string{"slli", "srli", "srai", "slliw", "srliw", "sraiw"}, op):
		return fmt.Sprintf("x%d,x%d,%x", rd, in.Rs1, in.Imm)
	case strings.Contains(op, "i") && op[0] != 'd': // div and divu have an i too
		return fmt.Sprintf("x%d,x%d,%d", rd, in.Rs1, in.Imm)
	}
	return fmt.Sprintf("x%d,x%d,x%d", rd, in.Rs1, in.Rs2)
}

// accessed returns the number of bytes that an instruction loads or stores, 0 for others.
func accessed(op string) int {
	switch op {
	case "lb", "lbu", "sb":
		return 1
	case "lh", "lhu", "sh":
		return 2
	case "lw", "lwu", "sw":
		return 4
	case "ld", "sd":
		return 8
	}
	return 0
}
