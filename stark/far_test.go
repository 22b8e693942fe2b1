package stark

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

// TestFarWords: a word with a share δ of its values changed, the best that is known being to prove
// the one that it was, is accepted by q queries with (1-δ)^q.
func TestFarWords(t *testing.T) {
	t.Parallel()
	runs := testsize.Pick(100, 500, 10_000)
	params := attackParams
	params.LogBlowup, params.Stack, params.LogFinal = 3, 0, 3
	for _, c := range []struct {
		cosets  int // on which all values are changed
		queries int
	}{{2, 1}, {4, 2}, {6, 1}, {1, 6}} {
		params.Queries = c.queries
		s, y := attacked[bear, quartic](t, params)
		accepted := 0
		for run := range runs {
			traces, about := attackTraces(nil)
			about.Context = binary.LittleEndian.AppendUint64(nil, uint64(run))
			p, err := y.prover(t.Context(), executor.Serial(), s.statement, traces, about, Options{})
			must.Do(t, err)
			must.Do(t, p.extendColumns())
			change := func(by uint64) {
				x := p.extended[ofColumns][0]
				for coset := range c.cosets {
					column := x.column(7-coset, 0)
					for i := range column {
						column[i] = column[i].Add(koalabear.New(by))
					}
				}
			}
			change(1)
			must.Do(t, p.commit(ofColumns, "columns"))
			change(koalabear.Modulus - 1)
			for _, step := range []func() error{p.sums, p.quotients, p.open, p.batch} {
				must.Do(t, step())
			}
			change(1)
			must.Do(t, p.queries())
			if s.Verify(p.encode(), about) == nil {
				accepted++
			}
		}
		want := math.Pow(1-float64(c.cosets)/8, float64(c.queries))
		deviation := math.Sqrt(want * (1 - want) / float64(runs))
		if got := float64(accepted) / float64(runs); math.Abs(got-want) > 5*deviation {
			t.Errorf("δ = %d/8, %d queries: accepted %.3f, want %.3f ± %.3f", c.cosets, c.queries, got, want, deviation)
		}
	}
}
