package zkvm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// read is a row of a table: the values of columns by their names. The columns of one name have numbers.
type read struct {
	table string
	time  uint64
	did
}

// rowsOf returns the rows of a run that have a time, in its order.
func rowsOf(t testing.TB, c *claimed) (rows []read) {
	for at, columns := range filled(t, c) {
		names := at.shapeOf().names
		if !slices.Contains(names, "time") || at == table(c.bridges) {
			continue
		}
		for row := range columns[0] {
			r, times := read{table: at.name(), did: did{}}, make(map[string]int)
			for i, name := range names {
				if r.did[name] = columns[i][row]; name == "time" {
					r.time = columns[i][row]
				}
				r.did[fmt.Sprintf("%s %d", name, times[name])] = columns[i][row]
				times[name]++
			}
			if r.time > 0 {
				rows = append(rows, r)
			}
		}
	}
	slices.SortFunc(rows, func(a, b read) int { return cmp.Compare(a.time, b.time) })
	return rows
}

// follow executes the program of a run, and compares each row with what the textbook machine did.
func follow(t testing.TB, raw []byte, c *claimed) {
	t.Helper()
	m, rows := newTextbook(t, raw, c.options.Input), rowsOf(t, c)
	compare := func(row int, table string, time uint64, want did) {
		t.Helper()
		if got := rows[row]; got.table != table || got.time != time {
			t.Fatalf("row %d: of %s at time %d, want %s at %d", row, got.table, got.time, table, time)
		}
		for name, v := range want {
			if got, ok := rows[row].did[name]; !ok || got != v {
				t.Fatalf("row %d, %s at time %d: %s is %#x, want %#x", row, table, time, name, got, v)
			}
		}
	}
	compare(0, "equal", 4, did{"index": 0}) // the jump to the entry
	m.access(&m.registers[0], 0)
	m.access(&m.registers[0], 1)
	m.time = 8
	row := 1
	for ; !m.halted; row++ {
		if row == len(rows) {
			t.Fatal("no row is a halt")
		}
		if index := rows[row].did["index"]; c.program.instructions[index].address != m.pc {
			t.Fatalf("row %d: instruction %d, want that at %#x", row, index, m.pc)
		}
		a0, before, time := m.x[10], len(m.output), m.time
		table, want := m.step()
		compare(row, table, time, want)
		for i := range len(m.output) - before {
			row++
			time := m.time
			compare(row, "output", time, m.commit(a0+uint64(i)))
		}
	}
	golden.Equal(t, "rows", row, len(rows))
	golden.Equal(t, "output", string(m.output), string(c.output))
}

// TestTextbook: the rows of runs are what a machine does that is written from the manual.
func TestTextbook(t *testing.T) {
	for name, raw := range official(t, "rv64im/rv64u") {
		if strings.HasSuffix(name, "-ma_data") || strings.HasSuffix(name, "-fence_i") {
			continue // they have no rows behind a fault
		}
		if testing.Short() && !strings.HasSuffix(name, "-add") && !strings.HasSuffix(name, "-ld_st") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			raw[0x30] = 1 // of the flags of the ELF header, those for floating point: no program uses it
			follow(t, raw, claim(t, ran(t, must.Get(Load(raw))(t), nil)))
		})
	}
	t.Run("hash", func(t *testing.T) {
		raw := hashProgram(t)
		follow(t, raw, claim(t, ran(t, must.Get(Load(raw))(t), counting(100))))
	})
}
