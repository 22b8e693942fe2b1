package zkvm

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestCount: docs/zkvm.md has the columns, messages and cells of each table that grows with the run.
func TestCount(t *testing.T) {
	m := newMachine(rv64)
	doc := string(must.Get(os.ReadFile("../docs/zkvm.md"))(t))
	tables := m.tables()
	for i, of := range m.all() {
		switch of.(type) {
		case *programTable, *constants, *data, *regions, *registers, *halves, *ands, *powers:
			continue // their heights do not depend on the run
		}
		table := tables[i]
		p := must.Get(table.Compile())(t)
		row := fmt.Sprintf("| %d | %d | %d |", p.Columns, len(p.Messages), width(p))
		t.Logf("%-20s %s", of.name(), row)
		found := false
		for line := range strings.Lines(doc) {
			found = found || strings.HasPrefix(line, "| "+of.name()+" |") && strings.HasSuffix(strings.TrimSpace(line), row)
		}
		if !found {
			t.Errorf("%s: docs/zkvm.md has no row that ends with %q", of.name(), row)
		}
	}
}
