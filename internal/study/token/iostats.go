package token

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// IOStatsFile is the name of the file that shows what inputs and outputs cost. The script of the study that this
// package reproduces gives its file the same name.
const IOStatsFile = "benchmark_IOstats.csv"

// IOStats writes a table, in CSV format, of time, memory and allocations for each number of bits, inputs and outputs.
// It leaves out records that have no axis for bits or for outputs, and records of cases that did not run to their end.
// Each figure is the median of the case's repetitions.
func IOStats(w io.Writer, recs []*record.Record) error {
	type row struct{ bench, curve, proof, exec, workers, cpus, bits, in, out string }
	type sums struct{ allocs, ram, ms []float64 }
	apart := env.Suffixes(recs)
	all := make(map[row]*sums)
	var order []row
	for _, r := range recs {
		axis := func(key string) string { v, _ := r.Axes.Get(key); return v }
		key := row{r.Workload + apart(r), axis("curve"), axis("proof"), axis("exec"), axis("workers"), strconv.Itoa(r.Env.GOMAXPROCS), axis("bits"), axis("in"), axis("out")}
		if r.Status != record.OK || key.bits == "" || key.out == "" {
			continue
		}
		if all[key] == nil {
			all[key] = &sums{}
			order = append(order, key)
		}
		s := all[key]
		s.allocs, s.ram = append(s.allocs, r.Value(record.Allocs)), append(s.ram, r.Value(record.AllocBytes))
		s.ms = append(s.ms, r.Value(record.LatencyMean)/1e6)
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n } // 0 if s is not a number
	slices.SortStableFunc(order, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.bench, b.bench), cmp.Compare(a.curve, b.curve), cmp.Compare(a.proof, b.proof), cmp.Compare(a.exec, b.exec),
			cmp.Compare(number(a.cpus), number(b.cpus)), cmp.Compare(number(a.workers), number(b.workers)),
			cmp.Compare(number(a.bits), number(b.bits)), cmp.Compare(number(a.in), number(b.in)), cmp.Compare(number(a.out), number(b.out)))
	})
	out := csv.NewWriter(w)
	_ = out.Write([]string{"bench", "curve", "proof", "exec", "cpus", "workers", "bits", "I", "O", "allocs", "RAM bytes", "time ms"}) // the writer keeps its first error
	for _, key := range order {
		s := all[key]
		cell := func(v []float64) string { return strconv.FormatFloat(stat.Median(v), 'g', 6, 64) }
		_ = out.Write([]string{key.bench, key.curve, key.proof, key.exec, key.cpus, key.workers, key.bits, key.in, key.out, cell(s.allocs), cell(s.ram), cell(s.ms)})
	}
	out.Flush()
	return out.Error()
}
