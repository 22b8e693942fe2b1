package stark

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// family is a table of StarkMix. Each row of a table is a step. It asks for its time on the bus "step" and answers
// with the next time, so the rows of all tables are one path through all times.
//
// A row also has accesses. An access asks on the bus "cell" for what the table's row before has left there, and
// answers with what it leaves itself. This is a limb, and a value that is the sum or the product of two of the row's
// limbs. The first row finds what the last one has left. Limbs are below the number of rows of the table that has the
// numbers: the row asks for them on the bus "number".
type family struct {
	name     string
	rare     int  // base-2 logarithm of the number of cycles for each row
	accesses int  // number of accesses
	checks   int  // number of limbs that belong to no access
	bits     int  // number of columns of bits
	numbers  bool // whether the table has the numbers, and the run's result
}

// mix lists the tables. All rows are used: in a machine, heights are powers of two, and the rows that pad them cost
// as much as others.
var mix = []family{
	{name: "sums", rare: 1, accesses: 4, checks: 2, bits: 1},
	{name: "logic", rare: 1, accesses: 5, checks: 1, bits: 7},
	{name: "words", rare: 2, accesses: 5, checks: 1, bits: 1},
	{name: "branches", rare: 2, accesses: 3, numbers: true},
	{name: "shifts", rare: 3, accesses: 5, checks: 1, bits: 3},
	{name: "comparisons", rare: 3, accesses: 4, checks: 2, bits: 3},
	{name: "bytes", rare: 3, accesses: 5, checks: 1, bits: 11},
	{name: "products", rare: 4, accesses: 7, checks: 1, bits: 9},
	{name: "high products", rare: 5, accesses: 10, bits: 7},
	{name: "divisions", rare: rarest, accesses: 7, checks: 1, bits: 71},
	{name: "calls", rare: rarest, accesses: 2, bits: 77},
}

const (
	rarest     = 6           // base-2 logarithm of the number of cycles in a block, in which each table has at least one row
	blockRows  = 2 << rarest // number of rows that all tables together have in a block
	fillAtOnce = 1 << 12     // number of rows that a task fills
)

// Columns of every table. Those of the accesses, the limbs that belong to none, the bits, and a number with its
// multiplicity follow.
const (
	atTime = iota // of the step
	atReal        // 1 if the row is used
	atFlag        // whether values are products
	atAccesses
)

// Columns of an access: what it leaves and what it finds, and when that was left.
const (
	accessValue = iota
	accessLimb
	accessValueBefore
	accessLimbBefore
	accessTimeBefore
	accessColumns
)

// access returns a column of an access.
func (f family) access(j, column int) int { return atAccesses + j*accessColumns + column }

// atChecks, atBits and atNumber are the first columns of what follows the accesses.
func (f family) atChecks() int { return f.access(f.accesses, 0) }
func (f family) atBits() int   { return f.atChecks() + f.checks }
func (f family) atNumber() int { return f.atBits() + f.bits }

func (f family) columns() int {
	if f.numbers {
		return f.atNumber() + 2
	}
	return f.atNumber()
}

// operation returns what an access leaves, as an expression in the flag and two limbs.
func operation(flag, x, y air.Expr) air.Expr {
	sum := x.Add(y)
	return sum.Add(flag.Mul(x.Mul(y).Sub(sum)))
}

// table returns the table. Its number tells its cells from those of other tables.
func (f family) table(number int) *air.Table {
	return &air.Table{Name: f.name, Columns: f.columns(), State: func(b *air.Builder) {
		time, real, flag := b.Here(atTime), b.Here(atReal), b.Here(atFlag)
		b.Zero(air.Everywhere, "real", real.Bool())
		b.Zero(air.Everywhere, "flag", flag.Bool())
		b.Ask("step", real, time)
		b.Answer("step", real, time.Plus(1))
		for j := range f.accesses {
			at := func(column int) air.Expr { return b.Here(f.access(j, column)) }
			x, y := at(accessLimb), b.Here(f.access((j+1)%f.accesses, accessLimb))
			b.Zero(air.Everywhere, fmt.Sprintf("value %d", j), operation(flag, x, y).Sub(at(accessValue)))
			cell := []air.Expr{air.Constant(int64(number)), air.Constant(int64(j))}
			b.Ask("cell", real, append(slices.Clone(cell), at(accessValueBefore), at(accessLimbBefore), at(accessTimeBefore))...)
			b.Answer("cell", real, append(cell, at(accessValue), x, time)...)
			b.Ask("number", real, x)
		}
		for i := range f.checks {
			b.Ask("number", real, b.Here(f.atChecks()+i))
		}
		for i := range f.bits {
			b.Zero(air.Everywhere, fmt.Sprintf("bit %d", i), b.Here(f.atBits()+i).Bool())
		}
		if f.numbers {
			n, times := b.Here(f.atNumber()), b.Here(f.atNumber()+1)
			b.Zero(air.First, "first number", n)
			b.Zero(air.Transition, "next number", b.Next(f.atNumber()).Sub(n).Plus(-1))
			b.Answer("number", times, n)
			b.Zero(air.Last, "result", b.Here(f.access(0, accessValue)).Sub(b.Public(0)))
		}
	}}
}

func mixTables() (tables []*air.Table) {
	for i, f := range mix {
		tables = append(tables, f.table(i))
	}
	return tables
}

// mixForm returns the heights of the tables for 2^log cycles.
func mixForm(log int) (f stark.Form) {
	for _, table := range mix {
		f = append(f, 1<<(log-table.rare))
	}
	return f
}

// mixRun is a run of the tables. Each row is a function of the seed and of its number, so that rows can be filled in
// any order.
type mixRun struct {
	seed   uint64
	form   stark.Form
	limbs  uint64     // limbs are below this power of two
	places [][]uint64 // for each table, the places of its rows in a block, in ascending order
}

func newMixRun(log int, seed uint64) *mixRun {
	m := &mixRun{seed: seed, form: mixForm(log)}
	places := rand.New(rand.NewPCG(seed, 0)).Perm(blockRows)
	for i, f := range mix {
		if f.numbers {
			m.limbs = uint64(m.form[i])
		}
		var own []uint64
		for range 1 << (rarest - f.rare) {
			own, places = append(own, uint64(places[0])), places[1:]
		}
		slices.Sort(own)
		m.places = append(m.places, own)
	}
	return m
}

// mixRow is a row: its time, flag and bits, the limbs of its accesses and then the others, and the accesses' values.
type mixRow struct {
	time, flag    uint64
	limbs, values []uint64
	random        rand.PCG // which has drawn all of these but the bits
}

func (f family) row() *mixRow {
	return &mixRow{limbs: make([]uint64, f.accesses+f.checks), values: make([]uint64, f.accesses)}
}

// draw sets to to row i of a table.
func (m *mixRun) draw(to *mixRow, table, i int) {
	places := m.places[table]
	to.time = uint64(i/len(places)*blockRows) + places[i%len(places)]
	to.random.Seed(m.seed, uint64(table)<<32|uint64(i))
	to.flag = to.random.Uint64() & 1
	for j := range to.limbs {
		to.limbs[j] = to.random.Uint64() & (m.limbs - 1)
	}
	for j := range to.values {
		x, y := to.limbs[j], to.limbs[(j+1)%len(to.values)]
		if to.values[j] = x + y; to.flag == 1 {
			to.values[j] = x * y
		}
	}
}

// statement says that the steps of all rows are one path, and what its result is.
func (m *mixRun) statement() stark.Statement {
	about := stark.Statement{Forms: []stark.Form{m.form}}
	rows := 0
	for i, f := range mix {
		rows += m.form[i]
		if f.numbers {
			last := f.row()
			m.draw(last, i, m.form[i]-1)
			about.Publics = last.values[:1]
		}
	}
	about.Messages = []stark.Message{{Bus: "step", Times: 1, Tuple: []uint64{0}}, {Bus: "step", Times: -1, Tuple: []uint64{uint64(rows)}}}
	return about
}

func (m *mixRun) traces() (traces []stark.Trace) {
	for i, rows := range m.form {
		traces = append(traces, stark.Trace{Rows: rows, Fill: func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
			return m.fill(ctx, ex, i, stark.Columns[uint64](cells))
		}})
	}
	return traces
}

// each calls visit for all rows of a table, in tasks of ex. visit gets a row that only this task uses.
func (m *mixRun) each(ctx context.Context, ex executor.Executor, table int, visit func(row *mixRow, from, to int)) error {
	rows := m.form[table]
	size := min(rows, fillAtOnce)
	return ex.Do(ctx, rows/size, func(_ context.Context, task int) error {
		visit(mix[table].row(), task*size, (task+1)*size)
		return nil
	})
}

// fill fills a table.
func (m *mixRun) fill(ctx context.Context, ex executor.Executor, table int, columns [][]uint64) error {
	f := mix[table]
	checks, bits := columns[f.atChecks():f.atBits()], columns[f.atBits():f.atNumber()]
	err := m.each(ctx, ex, table, func(row *mixRow, from, to int) {
		before := f.row()
		m.draw(before, table, (from-1+m.form[table])%m.form[table])
		for i := from; i < to; i++ {
			m.draw(row, table, i)
			columns[atTime][i], columns[atReal][i], columns[atFlag][i] = row.time, 1, row.flag
			for j := range f.accesses {
				access := columns[f.access(j, 0):]
				access[accessValue][i], access[accessLimb][i] = row.values[j], row.limbs[j]
				access[accessValueBefore][i], access[accessLimbBefore][i], access[accessTimeBefore][i] = before.values[j], before.limbs[j], before.time
			}
			for j, x := range row.limbs[f.accesses:] {
				checks[j][i] = x
			}
			var left uint64
			for j, column := range bits {
				if j%64 == 0 {
					left = row.random.Uint64()
				}
				column[i], left = left&1, left>>1
			}
			if f.numbers {
				columns[f.atNumber()][i] = uint64(i)
			}
			row, before = before, row
		}
	})
	if err != nil || !f.numbers {
		return err
	}
	return m.count(ctx, ex, columns[f.atNumber()+1])
}

// count counts how many limbs are each number.
func (m *mixRun) count(ctx context.Context, ex executor.Executor, times []uint64) error {
	for table := range mix {
		err := m.each(ctx, ex, table, func(row *mixRow, from, to int) {
			for i := from; i < to; i++ {
				m.draw(row, table, i)
				for _, x := range row.limbs {
					atomic.AddUint64(&times[x], 1)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
