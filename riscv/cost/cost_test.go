package cost_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/cost"
	"github.com/zkbench/zkbench/riscv/precompile"
)

// TestTables: rows of what was counted, padded to a power of two or to whole shards.
func TestTables(t *testing.T) {
	m := cost.Model{Columns: map[string]uint64{cost.CPU: 10, cost.Page: 2, "memory": 3, "own": 100}, Shard: 16}
	tally := &riscv.Tally{Cycles: 33, Precompiles: []riscv.PrecompileCalls{{Name: "own", Calls: 1, Units: 3}}}
	tally.Classes[riscv.Memory], tally.Classes[riscv.Integer] = 5, 16
	tables := m.Tables(tally, 1)
	golden.Equal(t, "tables", "[{cpu 33 48 10} {integer 16 16 0} {memory 5 8 3} {page 512 512 2} {own 3 4 100}]", fmt.Sprint(tables))
	golden.Equal(t, "cells", uint64(480+24+1024+400), cost.Cells(tables))
	golden.Equal(t, "tables of nothing", 0, len(m.Tables(&riscv.Tally{}, 0)))
	must.Fail(t, cost.Model{Shard: 3}.Check(), zkbench.ErrParams, "a shard of three rows")
	golden.Equal(t, "shards", [4]uint64{1, 1, 2, 1}, [4]uint64{m.Shards(0), m.Shards(16), m.Shards(17), cost.Model{}.Shards(17)})
	golden.Equal(t, "rows of one proof", uint64(64), cost.Model{}.Tables(tally, 1)[0].Padded)
}

// TestDefault has columns for every class, and every precompile but what the standard's accelerators have beside
// hashes: SP1 has none for these.
func TestDefault(t *testing.T) {
	m := cost.Default()
	must.Do(t, m.Check())
	names := append(riscv.Classes(), cost.CPU, cost.Page)
	own := slices.Concat(precompile.BN254(), []riscv.Precompile{precompile.MulMod()}, precompile.Hashes())
	for _, p := range own {
		names = append(names, p.Name)
	}
	golden.Equal(t, "tables", len(names), len(m.Columns))
	for _, name := range names {
		if _, ok := m.Columns[name]; !ok {
			t.Errorf("no columns for %s", name)
		}
	}
	golden.Equal(t, "precompiles", len(own), len(m.Precompiles()))
}

func Example() {
	tally := &riscv.Tally{Cycles: 1000}
	tally.Classes[riscv.Integer] = 1000
	for _, table := range cost.Default().Tables(tally, 0) {
		fmt.Println(table.Name, table.Rows, table.Padded, table.Cells())
	}
	// Output:
	// cpu 1000 1024 111616
	// integer 1000 1024 51200
}
