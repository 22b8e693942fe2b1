// Package cost estimates the work of a prover that would prove the run of a guest, in rows of tables and in
// cells. The estimate is linear in the counts of package riscv. This package proves nothing.
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

// Model describes a machine by its tables. One table has a row for each cycle. Each class of instructions
// has a table with a row for each instruction of the class. A table for memory has a row for each word of
// every page that the run touched. Each precompile has a table with a row for each unit of its work. A unit
// is a call, a block of a hash, or one of the pairs in a list of operands, for example a point and its
// scalar.
type Model struct {
	// Columns is the number of columns of each table. The key is CPU, Page, or the name of a class or a
	// precompile. A table that is not in Columns costs nothing.
	Columns map[string]uint64
	// Shard is the maximum number of rows in one proof, a power of two. If it is 0, there is one proof. Fewer
	// rows are padded to a power of two.
	Shard uint64
}

// Names of the tables that belong to no class and no precompile.
const (
	CPU  = "cpu"
	Page = "page"
)

const wordsOfPage = 512

// Default returns a model whose columns are the cells per row in the cost table of SP1's executor
// (succinctlabs/sp1, crates/core/executor/src/artifacts/rv32im_costs.json at commit 3c61993a). A cycle costs
// what the executor's chip Cpu costs. An integer instruction costs the mean of what the chips AddSub and Lt
// cost. An instruction of the class multiplication costs what the chip Mul costs, an instruction of the
// class memory what MemoryInstrs costs, and an instruction of the class branch what Branch costs. An
// instruction of the class system or precompile costs what SyscallInstrs costs. A word of a page costs what
// MemoryGlobalInit and MemoryGlobalFinalize cost together. Precompiles cost what their own chips cost.
// Floating point costs nothing in this model.
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

// Check returns zkbench.ErrParams if the field Shard of m is neither 0 nor a power of two.
func (m Model) Check() error {
	if m.Shard&(m.Shard-1) != 0 {
		return fmt.Errorf("%w: shard of %d rows; accepted: powers of two", zkbench.ErrParams, m.Shard)
	}
	return nil
}

// Table is one table of the model, with the number of rows that a run needs in it.
type Table struct {
	Name    string
	Rows    uint64 // without padding
	Padded  uint64 // rows with the padding of the last shard
	Columns uint64
}

// Cells returns the number of cells of the padded table.
func (t Table) Cells() uint64 { return t.Padded * t.Columns }

// Tables returns the tables that have rows, for a run or for a part of a run. The second argument is the
// value of the field riscv.Result.Touches.
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

// Shards returns the number of proofs that the given number of rows needs. It is at least 1.
func (m Model) Shards(rows uint64) uint64 {
	if m.Shard == 0 {
		return 1
	}
	return max(1, (rows+m.Shard-1)/m.Shard)
}

// padded returns the number of rows with padding: whole shards, or the next power of two if one shard
// suffices.
func (m Model) padded(rows uint64) uint64 {
	if n := m.Shards(rows); n > 1 {
		return n * m.Shard
	}
	return 1 << bits.Len64(rows-1)
}

// Cells returns the total number of cells of the padded tables.
func Cells(tables []Table) (n uint64) {
	for _, t := range tables {
		n += t.Cells()
	}
	return n
}

// Names returns the names of the tables for which the model has columns, sorted.
func (m Model) Names() []string { return slices.Sorted(maps.Keys(m.Columns)) }

// Precompiles returns the names of the precompiles for which the model has columns, sorted.
func (m Model) Precompiles() []string {
	return slices.DeleteFunc(m.Names(), func(name string) bool {
		return name == CPU || name == Page || slices.Contains(riscv.Classes(), name)
	})
}
