// Package cost says what a trace of a guest would cost a prover: rows of tables, and cells. It is a model,
// linear in what was counted. Nothing is proved, and no prover is asked.
//
//	r, err := riscv.Run(ctx, program, options)
//	for _, table := range cost.Default().Tables(&r.Tally, r.Touches) {
//		fmt.Println(table.Name, table.Rows, table.Cells())
//	}
package cost

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/riscv"
)

// Model is a machine of tables: one with a row for each cycle, one for each class of instructions with a
// row for each of them, one for memory with a row for each word of a page that was touched, and one for each
// precompile with a row for each unit of its work, which is a call, a block of a hash or a pair of a sum.
type Model struct {
	// Columns are those of a table, by its name: CPU, Page, a class or a precompile. A table without
	// columns costs nothing.
	Columns map[string]uint64
	// Shard are the rows of one proof at most, a power of two; 0: there is one proof. Fewer rows are padded to
	// a power of two.
	Shard uint64
}

// The tables that are of no class and no precompile.
const (
	CPU  = "cpu"
	Page = "page"
)

const wordsOfPage = 512

// Default is a model whose columns are the cells a row that SP1's executor reckons with (succinctlabs/sp1,
// crates/core/executor/src/artifacts/rv32im_costs.json at commit 3c61993a): those of its chips Cpu, AddSub and Lt
// for integers, whose mean is taken, Mul, MemoryInstrs, Branch, SyscallInstrs, MemoryGlobalInit and
// MemoryGlobalFinalize together, and of its precompiles. It has no floating point.
func Default() Model {
	return Model{
		Shard: 1 << 22,
		Columns: map[string]uint64{
			CPU: 109, Page: 124 + 124,
			"integer": 50, "multiplication": 82, "memory": 91, "float": 0, "branch": 58, "system": 80, "precompile": 80,
			"mulmod": 880, "fp-add": 704, "fp-sub": 704, "fp-mul": 704, "fp2-add": 1382, "fp2-sub": 1382, "fp2-mul": 2885,
			"g1-add": 4013, "g1-double": 4492, "keccak256": 93720, "sha256": 15936 + 40480,
		},
	}
}

// Check tells whether a model is one. The error is a zkbench.ErrParams.
func (m Model) Check() error {
	if m.Shard&(m.Shard-1) != 0 {
		return fmt.Errorf("%w: shard of %d rows; accepted: powers of two", zkbench.ErrParams, m.Shard)
	}
	return nil
}

// Table is what a table of the model has for a run.
type Table struct {
	Name    string
	Rows    uint64 // that stand for something
	Padded  uint64 // with those that fill the last shard
	Columns uint64
}

// Cells of the padded table.
func (t Table) Cells() uint64 { return t.Padded * t.Columns }

// Tables are those of a run, or of a part of one, that have rows. Touches are as of riscv.Result.
func (m Model) Tables(t *riscv.Tally, touches uint64) (tables []Table) {
	add := func(name string, rows uint64) {
		if rows > 0 {
			tables = append(tables, Table{name, rows, m.padded(rows), m.Columns[name]})
		}
	}
	add(CPU, t.Cycles)
	for class, n := range t.Classes {
		add(riscv.Class(class).String(), n)
	}
	add(Page, touches*wordsOfPage)
	for _, p := range t.Precompiles {
		add(p.Name, p.Units)
	}
	return tables
}

// Shards are the proofs that so many rows of a table take, 1 at least.
func (m Model) Shards(rows uint64) uint64 {
	if m.Shard == 0 {
		return 1
	}
	return max(1, (rows+m.Shard-1)/m.Shard)
}

// padded is rows in whole shards, or in one that is as small as can be.
func (m Model) padded(rows uint64) uint64 {
	if n := m.Shards(rows); n > 1 {
		return n * m.Shard
	}
	return 1 << bits.Len64(rows-1)
}

// Cells of tables together.
func Cells(tables []Table) (n uint64) {
	for _, t := range tables {
		n += t.Cells()
	}
	return n
}

// Names are the tables that the model has columns for.
func (m Model) Names() []string { return slices.Sorted(maps.Keys(m.Columns)) }

// Precompiles are those of them that are of precompiles.
func (m Model) Precompiles() []string {
	return slices.DeleteFunc(m.Names(), func(name string) bool {
		return name == CPU || name == Page || slices.Contains(riscv.Classes(), name)
	})
}
