package zkvm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// The registers of pairs: the address of the operands, the operands, the result and others.
const (
	pairBase = 8
	pairX    = 5
	pairY    = 6
	pairZ    = 7
	pairS    = 28
	pairT    = 29
	pairU    = 30
)

// op encodes an instruction of three registers: its function in three and in seven bits.
func op(f3, f7, rd, rs1, rs2 uint32) uint32 { return rv.R(rv.OpReg, f3, f7, rd, rs1, rs2) }

// imm encodes an instruction of two registers and a constant.
func imm(f3, rd, rs1 uint32, c int32) uint32 { return rv.I(rv.OpImm, f3, rd, rs1, c) }

// byBytes returns the words that load n bytes one by one.
func byBytes(n int32) (words []uint32) {
	words = append(words, rv.Addi(pairZ, 0, 0))
	for i := n - 1; i >= 0; i-- {
		words = append(words, imm(1, pairZ, pairZ, 8), rv.I(rv.OpLoad, 4, pairT, pairBase, i), op(6, 0, pairZ, pairZ, pairT))
	}
	return words
}

// pairs has programs that do the same with two operands, in different ways.
var pairs = []struct {
	name       string
	some, same []uint32
}{
	{"sum", []uint32{op(0, 0, pairZ, pairX, pairY)}, []uint32{op(0, 0x20, pairT, 0, pairY), op(0, 0x20, pairZ, pairX, pairT)}},
	{
		"sum of 32 bits",
		[]uint32{rv.R(rv.OpReg32, 0, 0, pairZ, pairX, pairY)},
		[]uint32{op(0, 0, pairZ, pairX, pairY), imm(1, pairZ, pairZ, 32), imm(5, pairZ, pairZ, 0x400+32)},
	},
	{"shift to the left", []uint32{op(1, 0, pairZ, pairX, pairY)}, []uint32{rv.Addi(pairT, 0, 1), op(1, 0, pairT, pairT, pairY), op(0, 1, pairZ, pairX, pairT)}},
	{
		"shift to the right with its sign",
		[]uint32{op(5, 0x20, pairZ, pairX, pairY)},
		[]uint32{imm(5, pairS, pairX, 0x400+63), op(4, 0, pairT, pairX, pairS), op(5, 0, pairT, pairT, pairY), op(4, 0, pairZ, pairT, pairS)},
	},
	{"xor", []uint32{op(4, 0, pairZ, pairX, pairY)}, []uint32{op(6, 0, pairS, pairX, pairY), op(7, 0, pairT, pairX, pairY), op(0, 0x20, pairZ, pairS, pairT)}},
	{"comparison", []uint32{op(3, 0, pairZ, pairX, pairY)}, []uint32{ // the borrow of x - y
		imm(4, pairS, pairX, -1), op(6, 0, pairT, pairS, pairY), op(0, 0x20, pairU, pairX, pairY), op(7, 0, pairT, pairT, pairU),
		op(7, 0, pairS, pairS, pairY), op(6, 0, pairT, pairT, pairS), imm(5, pairZ, pairT, 63),
	}},
	{"minimum", []uint32{rv.Addi(pairZ, pairX, 0), rv.B(4, pairX, pairY, 8), rv.Addi(pairZ, pairY, 0)}, []uint32{ // y + (x - y if x < y)
		op(2, 0, pairT, pairX, pairY), op(0, 0x20, pairT, 0, pairT), op(0, 0x20, pairS, pairX, pairY), op(7, 0, pairT, pairT, pairS), op(0, 0, pairZ, pairY, pairT)}},
	{"upper word of a product", []uint32{op(1, 1, pairZ, pairX, pairY)}, []uint32{
		op(3, 1, pairZ, pairX, pairY), imm(5, pairT, pairX, 0x400+63), op(7, 0, pairT, pairT, pairY), op(0, 0x20, pairZ, pairZ, pairT),
		imm(5, pairT, pairY, 0x400+63), op(7, 0, pairT, pairT, pairX), op(0, 0x20, pairZ, pairZ, pairT),
	}},
	{"remainder", []uint32{op(7, 1, pairZ, pairX, pairY)}, []uint32{op(5, 1, pairT, pairX, pairY), op(0, 1, pairT, pairT, pairY), op(0, 0x20, pairZ, pairX, pairT)}},
	{"signed remainder", []uint32{op(6, 1, pairZ, pairX, pairY)}, []uint32{op(4, 1, pairT, pairX, pairY), op(0, 1, pairT, pairT, pairY), op(0, 0x20, pairZ, pairX, pairT)}},
	{"load", []uint32{rv.I(rv.OpLoad, 3, pairZ, pairBase, 0)}, byBytes(8)},
	{"load of four bytes", []uint32{rv.I(rv.OpLoad, 6, pairZ, pairBase, 0)}, byBytes(4)},
	{"store", []uint32{rv.S(rv.OpStore, 3, pairBase, pairX, 16), rv.I(rv.OpLoad, 3, pairZ, pairBase, 16)}, []uint32{
		imm(5, pairT, pairX, 32), rv.S(rv.OpStore, 1, pairBase, pairX, 16), imm(5, pairS, pairX, 16), rv.S(rv.OpStore, 0, pairBase, pairS, 18),
		imm(5, pairS, pairX, 24), rv.S(rv.OpStore, 0, pairBase, pairS, 19), rv.S(rv.OpStore, 2, pairBase, pairT, 20), rv.I(rv.OpLoad, 3, pairZ, pairBase, 16),
	}},
	{"jump", []uint32{op(0, 0, pairZ, pairX, pairY)}, []uint32{rv.Jal(pairT, 12), op(0, 0, pairZ, pairX, pairY), rv.Jal(0, 8), rv.I(rv.OpJalr, 0, 0, pairT, 0)}},
}

// runOf runs a program on two operands, which ends with its result as exit code, and changes steps of the run.
func runOf(t testing.TB, words []uint32, x, y uint64, change func(n int, s *riscv.Step)) *execution {
	t.Helper()
	begin := []uint32{rv.Lui(pairBase, dataAt), rv.I(rv.OpLoad, 3, pairX, pairBase, 0), rv.I(rv.OpLoad, 3, pairY, pairBase, 8)}
	end := []uint32{rv.Addi(a0, pairZ, 0), rv.Addi(a7, 0, numberHalt), rv.Ecall}
	data := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, x), y)
	p := must.Get(Load(rv.ELF(64, codeAt,
		rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(slices.Concat(begin, words, end)...)}, rv.Segment{At: dataAt, Flags: 6, Data: data})))(t)
	run, n := newExecution(newMachine(rv64), p), 0
	run.step(step{})
	_, err := riscv.Run(t.Context(), p.guest, riscv.Options{Trace: func(s riscv.Step) {
		if change != nil {
			change(n, &s)
		}
		must.Do(t, run.trace(s))
		n++
	}})
	if _, ok := errors.AsType[*riscv.ExitError](err); !ok {
		must.Do(t, err)
	}
	return run
}

// TestPairs: two programs that do the same have the same result, both have a valid trace, and a fault in one of the traces is found.
// One fault is a false result of an instruction, with which the run goes on; the other one is a changed cell, after which the prover
// counts all look-ups again.
func TestPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	operand := func() uint64 {
		if random.IntN(3) == 0 {
			return edges[random.IntN(len(edges))]
		}
		return random.Uint64() >> random.IntN(64)
	}
	for range testsize.Pick(1, 2, 20) {
		for i, pair := range pairs {
			if i%testsize.Pick(4, 1, 1) != 0 {
				continue
			}
			x, y := operand(), operand()
			name := fmt.Sprintf("%s of %#x and %#x", pair.name, x, y)
			some, same := runOf(t, pair.some, x, y, nil), runOf(t, pair.same, x, y, nil)
			golden.Equal(t, name, some.exit(), same.exit())
			must.Do(t, check(t, some), name)
			must.Do(t, check(t, same), name)

			words, valid := pair.some, some
			if random.IntN(2) == 0 {
				words, valid = pair.same, same
			}
			at, what := random.IntN(int(valid.time/accesses)-2), ""
			bit := uint64(1) << random.IntN(64)
			injected := false
			err := check(t, runOf(t, words, x, y, func(n int, s *riscv.Step) {
				in := &valid.program.instructions[valid.program.index[s.Address]]
				switch writes := in.rd < sink && in.family() != codeJump && in.family() != codeEqual && in.family() != codeCall; {
				case injected || n < at:
				case in.isStore():
					injected, what = true, "stored"
					s.After ^= bit
				case writes && (in.family() != codeCompare || in.op&codeSet == codeSet):
					injected, what = true, "result"
					s.Result ^= bit
				}
			}))
			if injected && !errors.Is(err, zkbench.ErrWitness) {
				t.Errorf("%s: false %s of step %d: %v", name, what, at, err)
			}

			f := forge(claim(t, valid))
			var tables []family
			for _, of := range f.instructions() {
				if valid.rows[of.code/codesPerFamily].n > 0 {
					tables = append(tables, of)
				}
			}
			of := tables[random.IntN(len(tables))]
			row, names := random.IntN(valid.rows[of.code/codesPerFamily].n), of.table.shapeOf().names
			c := random.IntN(len(names))
			if unused[of.table.name()][names[c]] != "" {
				continue
			}
			n := int64(1)
			if random.IntN(2) == 0 {
				n = int64(random.Uint64N(goldilocks.Modulus)>>random.IntN(63)) | 1
			}
			if err := f.add(of.table, row, n, column(c)).check(t); !errors.Is(err, zkbench.ErrWitness) {
				t.Errorf("%s: %s, row %d: %s and %d: %v", name, of.table.name(), row, names[c], n, err)
			}
		}
	}
}
