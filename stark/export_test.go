package stark

import (
	"context"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

// ProveForced proves traces, over KoalaBear's degree 4, whether they satisfy the tables or not.
func (s *System) ProveForced(t *testing.T, traces []Trace, about Statement) []byte {
	t.Helper()
	y := s.engine.(*system[koalabear.Element, koalabear.Quartic])
	p, err := y.prover(context.Background(), executor.Serial(), s.statement, traces, about, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{p.commitColumns, p.sums, p.quotients, p.open, p.batch, p.queries} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return p.encode()
}

// Tables with fixed columns, for tests outside.
var (
	FixedTables = fixedTables
	FixedTraces = fixedTraces
)
