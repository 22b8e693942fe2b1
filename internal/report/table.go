package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/zkbench/zkbench/internal/record"
)

// Table writes one line per record. Coordinates that all records share stand
// once, above it; the machine of the first record too.
func Table(w io.Writer, recs []*record.Record) error {
	if len(recs) == 0 {
		return nil
	}
	var b block
	b.linef("%s", machine(recs[0].Env))
	common, varying := split(recs)
	if len(common) > 0 {
		b.linef("%s", strings.ReplaceAll(common.String(), "/", " "))
	}

	var aligned strings.Builder
	tw := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	header := append([]string{"workload"}, varying...)
	header = append(header, "ops", "ops/s", "P50", "P95", "P99", "max", "B/op", "allocs/op", "GC CPU", "checked", "exact", "status")
	fmt.Fprintln(tw, strings.Join(header, "\t"))
	for _, rec := range recs {
		cells := []string{rec.Workload}
		for _, key := range varying {
			value, ok := rec.Axes.Get(key)
			if !ok {
				value = "-"
			}
			cells = append(cells, value)
		}
		fmt.Fprintln(tw, strings.Join(append(cells, figuresOf(rec)...), "\t"))
	}
	_ = tw.Flush() // a strings.Builder does not fail
	for line := range strings.Lines(aligned.String()) {
		b.linef("%s", strings.TrimRight(line, " \n"))
	}
	for _, rec := range recs {
		if rec.Status != record.OK {
			b.linef("%s/%s %s: %s", rec.Workload, rec.Case, rec.Status, rec.Error)
		}
	}
	return b.flush(w)
}

func figuresOf(rec *record.Record) []string {
	done := rec.Count(record.CountDone)
	cells := []string{fmt.Sprint(done)}
	if done == 0 {
		cells = append(cells, "-", "-", "-", "-", "-", "-", "-", "-")
	} else {
		cells = append(cells, figures(rec.Value(record.Throughput), 4))
		for _, name := range []string{record.LatencyP50, record.LatencyP95, record.LatencyP99, record.LatencyMax} {
			cells = append(cells, duration(rec.Value(name)))
		}
		cells = append(cells, figures(rec.Value(record.AllocBytes), 4), figures(rec.Value(record.Allocs), 4),
			fmt.Sprintf("%.1f%%", rec.Value(record.GCCPUShare)))
	}
	var exact []string
	for _, m := range rec.Metrics {
		if m.Kind == record.Exact {
			exact = append(exact, number(m.Value)+" "+m.Unit)
		}
	}
	if len(exact) == 0 {
		exact = []string{"-"}
	}
	return append(cells, checked(rec), strings.Join(exact, ", "), string(rec.Status))
}

// split tells the coordinates that all records share from the keys of those
// that they do not, both in the order of first appearance.
func split(recs []*record.Record) (common record.Axes, varying []string) {
	for _, rec := range recs {
		for _, x := range rec.Axes {
			_, seen := common.Get(x.Key)
			if seen || slices.Contains(varying, x.Key) {
				continue
			}
			shared := true
			for _, other := range recs {
				value, ok := other.Axes.Get(x.Key)
				shared = shared && ok && value == x.Value
			}
			if shared {
				common = append(common, x)
			} else {
				varying = append(varying, x.Key)
			}
		}
	}
	return common, varying
}
