package stark

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

// BenchmarkMessages computes the sums of a table's messages, of three values each, and the column φ.
func BenchmarkMessages(b *testing.B) {
	benchmarkMessages[goldilocks.Element, ext.Quadratic](b)
	benchmarkMessages[goldilocks.Element, ext.Cubic](b)
	benchmarkMessages[bear, quartic](b)
	benchmarkMessages[bear, koalabear.Sextic](b)
}

func benchmarkMessages[E field.Element[E], X field.Extension[E, X]](b *testing.B) {
	const messages, values, rows = 16, 3, 1 << 12
	ask := &air.Table{Name: "asks", Columns: messages * values, State: func(b *air.Builder) {
		for m := range messages {
			b.Ask("bus", air.Constant(1), b.Here(values*m), b.Here(values*m+1), b.Here(values*m+2))
		}
	}}
	answer := &air.Table{Name: "answers", Columns: values + 1, State: func(b *air.Builder) {
		b.Answer("bus", b.Here(values), b.Here(0), b.Here(1), b.Here(2))
	}}
	config := configOf[E, X](attackParams)
	b.Run(fmt.Sprintf("field=%s/degree=%d", config.Field, config.Params.Degree), func(b *testing.B) {
		s := must.Get(New(config, ask, answer))(b)
		traces := []Trace{
			tracesOf(nil)(0, rows, func(c *Cells) {
				for i := range rows {
					for j := range messages * values {
						c.Set(i, j, uint64(i*j))
					}
				}
			}),
			tracesOf(nil)(1, attackRows, func(*Cells) {}),
		}
		p := must.Get(s.engine.(*system[E, X]).prover(b.Context(), executor.Serial(), s.statement, traces, Statement{Forms: []Form{{rows, attackRows}}}, Options{}))(b)
		must.Do(b, p.extendColumns())
		kept := make([][]E, len(p.kept[0]))
		for i := range kept {
			kept[i] = slices.Clone(p.kept[0][i]) // sumUp releases them
		}
		must.Do(b, p.sumUp())
		for b.Loop() {
			p.kept[0], p.sending, p.points.memory = kept, p.sending.part(), p.sending.part()
			_, sum, err := p.sumsOf(0)
			must.Do(b, err)
			if sum != p.proof.sums[0] {
				b.Fatal("another sum")
			}
			p.sending.release()
			p.points.memory.release()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*messages*rows), "ns/message")
	})
}
