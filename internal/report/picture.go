package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/record"
)

const (
	pictureRows = 16   // at most, up to P99; what lies above it is one more row
	rowRatio    = 1.01 // at least, from row to row: ten times the histogram's resolution
	barWidth    = 40   // cells of the fullest row
)

// Picture writes the latency distribution of a record: its range up to P99 in
// geometric steps, one row each with range, count, bar and per cent, then one
// row for all above. P50, P95 and P99 stand at the rows that they fall into. A
// record without latencies has no picture.
func Picture(w io.Writer, rec *record.Record) error {
	var b block
	if err := picture(&b, rec); err != nil {
		return err
	}
	return b.flush(w)
}

func picture(b *block, rec *record.Record) error {
	encoded, ok := rec.Histogram(record.HistLatency)
	if !ok {
		return nil
	}
	h, err := encoded.Decode()
	if err != nil {
		return fmt.Errorf("latencies of %s: %w", rec.Case, err)
	}
	if h.TotalCount() == 0 {
		return nil
	}
	rows := bins(h)
	fullest := int64(0)
	for _, r := range rows {
		fullest = max(fullest, r.count)
	}
	marks := []struct {
		name  string
		value int64
	}{{"P50", h.ValueAtPercentile(50)}, {"P95", h.ValueAtPercentile(95)}, {"P99", h.ValueAtPercentile(99)}}

	b.linef("Latency Distribution (%d operations):", h.TotalCount())
	for i, r := range rows {
		var marked []string
		for _, m := range marks {
			if float64(m.value) <= r.to && (i == 0 || float64(m.value) > rows[i-1].to) {
				marked = append(marked, m.name+" "+duration(float64(m.value)))
			}
		}
		line := fmt.Sprintf(" %9s - %-9s %8d %5.1f%%  %s", duration(r.from), duration(r.to), r.count,
			100*float64(r.count)/float64(h.TotalCount()), bar(r.count, fullest))
		if len(marked) > 0 {
			line += "  <- " + strings.Join(marked, ", ")
		}
		b.linef("%s", strings.TrimRight(line, " "))
	}
	return nil
}

// bin counts the values in (from, to], in the first one from included.
type bin struct {
	from, to float64
	count    int64
}

func bins(h *hdrhistogram.Histogram) []bin {
	least, p99, most := float64(h.Min()), float64(h.ValueAtPercentile(99)), float64(h.Max())
	least = max(least, 1)
	var rows []bin
	if p99 > least {
		n := min(max(int(math.Log(p99/least)/math.Log(rowRatio)), 1), pictureRows)
		ratio := math.Pow(p99/least, 1/float64(n))
		from := least
		for i := range n {
			to := least * math.Pow(ratio, float64(i+1))
			if i == n-1 {
				to = p99 // exactly, whatever the powers round to
			}
			rows = append(rows, bin{from: from, to: to})
			from = to
		}
	} else {
		rows = append(rows, bin{from: least, to: p99})
	}
	if most > p99 {
		rows = append(rows, bin{from: p99, to: most})
	}
	i := 0
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		// A bar is as wide as the histogram's resolution; its lower end decides,
		// so that the value that a percentile names falls into its own row.
		for i < len(rows)-1 && float64(bar.From) > rows[i].to {
			i++
		}
		rows[i].count += bar.Count
	}
	return rows
}

// bar draws n of most in eighths of a cell; what is not nothing is visible.
func bar(n, most int64) string {
	if n == 0 {
		return ""
	}
	eighths := max(1, int(math.Round(float64(n)/float64(most)*barWidth*8)))
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return s
}
