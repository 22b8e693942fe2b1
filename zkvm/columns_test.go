package zkvm

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/stark"
)

// everything returns a run that has rows in all tables but that of bridges, and most operations.
func everything(t testing.TB) *claimed {
	const x, y, z, base, shifted = 5, 6, 7, 8, 9
	words := []uint32{
		rv.Addi(x, 0, -77), rv.Addi(y, 0, 13), rv.R(rv.OpReg, 0, 0, z, x, y), rv.R(rv.OpReg, 0, 0x20, z, z, y), rv.R(rv.OpReg32, 0, 0, z, x, x), // sums
		rv.R(rv.OpReg, 7, 0, z, x, y), rv.R(rv.OpReg, 6, 0, z, x, y), rv.R(rv.OpReg, 4, 0, z, x, y), rv.I(rv.OpImm, 7, z, x, 99), // logic
		rv.I(rv.OpImm, 1, z, x, 7), rv.I(rv.OpImm, 5, z, x, 40), rv.I(rv.OpImm32, 1, z, x, 7), rv.I(rv.OpImm32, 5, z, x, 7), rv.I(rv.OpImm, 1, z, x, 33), // shifts
		rv.R(rv.OpReg, 1, 0, z, x, y), rv.R(rv.OpReg, 5, 0x20, z, x, y), rv.R(rv.OpReg32, 5, 0x20, z, x, y), rv.I(rv.OpImm, 5, shifted, x, 0x400+50), // by registers
		rv.R(rv.OpReg, 2, 0, z, x, y), rv.R(rv.OpReg, 3, 0, z, x, y), rv.I(rv.OpImm, 3, z, y, 14), rv.B(4, x, y, 8), rv.Addi(0, 0, 0), rv.B(7, x, y, 8), rv.Addi(0, 0, 0), // comparisons
		rv.B(0, x, y, 8), rv.B(1, x, y, 8), rv.Addi(0, 0, 0), rv.B(0, x, x, 8), rv.Addi(0, 0, 0), // equal
		rv.Jal(z, 8), rv.Addi(0, 0, 0), rv.I(rv.OpJalr, 0, z, z, 8+1), rv.Addi(0, 0, 0), // jumps; the second one is to the call of jal's link
		rv.Lui(base, dataAt), rv.I(rv.OpLoad, 3, z, base, 0), rv.I(rv.OpLoad, 2, z, base, 4), rv.I(rv.OpLoad, 6, z, base, 0), rv.S(rv.OpStore, 3, base, x, 8), rv.S(rv.OpStore, 2, base, x, 20), // words
		rv.I(rv.OpLoad, 0, z, base, 9), rv.I(rv.OpLoad, 4, z, base, 1), rv.I(rv.OpLoad, 1, z, base, 10), rv.I(rv.OpLoad, 5, z, base, 14), rv.S(rv.OpStore, 0, base, x, 35), rv.S(rv.OpStore, 1, base, x, 46), // narrow words
		rv.Lui(base, constantAt), rv.I(rv.OpLoad, 3, z, base, 0), rv.I(rv.OpLoad, 0, z, base, 3),
		rv.R(rv.OpReg, 0, 1, z, x, y), rv.R(rv.OpReg, 1, 1, z, x, y), rv.R(rv.OpReg, 2, 1, z, x, y), rv.R(rv.OpReg, 3, 1, z, x, y), rv.R(rv.OpReg32, 0, 1, z, x, y), // products
		rv.R(rv.OpReg, 4, 1, z, x, y), rv.R(rv.OpReg, 5, 1, z, x, y), rv.R(rv.OpReg, 6, 1, z, x, y), rv.R(rv.OpReg, 7, 1, z, y, x), rv.R(rv.OpReg32, 4, 1, z, x, y), rv.R(rv.OpReg, 4, 1, z, x, 0), rv.R(rv.OpReg, 6, 1, z, x, 0), // divisions
	}
	name := []uint32{rv.Lui(a0, dataAt), rv.Addi(y, 0, 's'), rv.S(rv.OpStore, 0, a0, y, 0), rv.Addi(a1, 0, 1)} // of a section
	p := assembled(t, words, name, calling(call.Begin), calling(call.End), calling(call.Input), calling(call.Commit), committing(dataAt, 0), committing(dataAt, 1))
	return claim(t, ran(t, p, counting(61)))
}

// inAllTables returns runs that together have rows in all tables: the second one has bridges.
func inAllTables(t testing.TB) []*claimed {
	return []*claimed{everything(t), claim(t, executed(newMachine(rv64), loop(5500)))}
}

// filled returns the columns of all tables of a claim that holds.
func filled(t testing.TB, c *claimed) map[table][][]uint64 {
	t.Helper()
	traces, all := c.traces(c.form), make(map[table][][]uint64)
	for i, at := range c.all() {
		fill := traces[i].Fill
		traces[i].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
			err := fill(ctx, ex, cells)
			for _, column := range stark.Columns[uint64](cells) {
				all[at] = append(all[at], slices.Clone(column))
			}
			return err
		}
	}
	must.Do(t, c.system.Check(t.Context(), executor.Serial(), traces, c.about))
	return all
}

// unused has the columns that some rows of instructions do not use, by table, with the reason.
var unused = map[string]map[string]string{
	"sums":    {"carry.hi": "a sum of 32 bits has no upper limb"},
	"equal":   {"inverse.lo": "of a difference that is 0", "inverse.hi": "of a difference that is 0, or for which the lower limb's is used"},
	"compare": {"inverse": "of a difference that is 0", "x.sign": "of a limb that is not signed", "y.sign": "of a limb that is not signed", "old.lo": "a branch writes nothing", "old.hi": "a branch writes nothing", "old.time": "a branch writes nothing"},
	"jumps":   {"a.lo": "jal reads no register", "a.hi": "jal reads no register", "a.time": "jal reads no register", "odd": "jal has no sum"},
	"divisions": {
		"top.upper": "an unsigned dividend has no sign", "difference.lo.upper": "nothing is below 0", "difference.hi.upper": "nothing is below 0", "borrow": "nothing is below 0",
		"quotient.negative": "a remainder by 0 has any quotient",
	},
	"output": {"inverse": "of a difference that is 0"},
}

// TestColumns: no cell of a row can change alone, in any column of a table. Rows behind those of the run send nothing, and nobody
// uses them.
func TestColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	found := make(map[string]map[string]string)
	for _, c := range inAllTables(t) {
		f := forge(c)
		for at, columns := range filled(t, c) {
			if at == table(c.sponge) { // TestPlantedSponge has its rows
				continue
			}
			for row := 0; row < len(columns[0]); row += max(1, len(columns[0])/leastRows) {
				if !f.sends(at, columns, row) {
					continue
				}
				for column, name := range at.shapeOf().names {
					cell := &columns[column][row]
					was := *cell
					for _, to := range []uint64{was ^ 1, uint64(goldilocks.Element(was).Add(goldilocks.Element(1 + random.Uint64N(goldilocks.Modulus-1))))} {
						detected := f.detected(at, columns, row, func() { *cell = to })
						*cell = was
						if detected != "" {
							continue
						}
						reason, ok := unused[at.name()][name]
						if !ok {
							t.Errorf("%s, row %d: %s can be %d", at.name(), row, name, to)
						}
						if found[at.name()] == nil {
							found[at.name()] = make(map[string]string)
						}
						found[at.name()][name] = reason
					}
				}
			}
		}
	}
	golden.Equal(t, "columns that some rows do not use", unused, found)
}

// TestColumnsChecked: Check refuses the changes that TestColumns makes.
func TestColumnsChecked(t *testing.T) {
	c := everything(t)
	all, n := filled(t, c), 0
	for _, at := range c.all() {
		for column, name := range at.shapeOf().names {
			if n++; n%testsize.Pick(40, 4, 1) != 0 || name == "box" || unused[at.name()][name] != "" || !forge(c).sends(at, all[at], 0) {
				continue
			}
			refused(t, at.name()+", "+name, "", c.check(t, at, func(cells *stark.Cells) { stark.Columns[uint64](cells)[column][0] ^= 1 }))
		}
	}
}

// sends reports whether a row sends anything: rows that do not are behind those of the run.
func (f *forgery) sends(at table, columns [][]uint64, row int) bool {
	sent := make(map[tuple]goldilocks.Element)
	f.sent(sent, at, f.fixedOf(at), columns, row, 1)
	return len(sent) > 0
}
