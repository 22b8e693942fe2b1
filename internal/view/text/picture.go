package text

import (
	"fmt"
	"math"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

const (
	pictureRows = 16   // maximum from P1 to P99; there are two more for values outside
	rowRatio    = 1.01 // minimum ratio from row to row, ten times the histogram's resolution
	barWidth    = 40   // cells of the fullest row
)

// heatmap writes the distribution h, which must not be empty. Each row is a range of latencies
// with its frequency, percentage and bar. The rows divide P1 to P99 into geometric steps; one
// more row is for all values below, and one for all above. P50, P95 and P99 are marked at
// their rows.
func (p *page) heatmap(name string, h *hdrhistogram.Histogram) {
	rows := bins(h)
	fullest := int64(0)
	for _, r := range rows {
		fullest = max(fullest, r.count)
	}
	type mark struct {
		name  string
		value float64
	}
	var marks []mark
	for _, s := range []record.Statistic{record.P50, record.P95, record.P99} {
		if record.Carries(s.Percentile, h.TotalCount()) {
			name := s.Label
			if record.Few(s.Percentile, h.TotalCount()) {
				name += fewMark
			}
			marks = append(marks, mark{name, record.Percentile(h, s.Percentile)})
		}
	}

	p.heading(fmt.Sprintf("%s%s Heatmap (%d operations):", strings.ToUpper(name[:1]), name[1:], h.TotalCount()))
	p.linef(" %-21s %8s %6s  %s", "Range", "Freq", "Share", "Distribution")
	for i, r := range rows {
		var marked []string
		for _, m := range marks {
			if m.value <= r.to && (i == 0 || m.value > rows[i-1].to) {
				marked = append(marked, m.name+" "+format.TightTime(m.value))
			}
		}
		line := fmt.Sprintf(" %9s - %-9s %8d %5.1f%%  %s", format.TightTime(r.from), format.TightTime(r.to), r.count,
			100*float64(r.count)/float64(h.TotalCount()), bar(r.count, fullest))
		if len(marked) > 0 {
			line += "  <- " + strings.Join(marked, ", ")
		}
		p.linef("%s", strings.TrimRight(line, " "))
	}
}

// bin counts the values in (from, to]. The first bin includes from.
type bin struct {
	from, to float64
	count    int64
}

// bins divides the range from P1 to P99 into geometric steps. Values below are one bin and
// values above another, so that single outliers do not flatten the middle.
func bins(h *hdrhistogram.Histogram) []bin {
	from := max(float64(h.Min()), 1)
	p1, p99, most := record.Percentile(h, 1), record.Percentile(h, 99), float64(h.Max())
	var rows []bin
	if from*rowRatio < p1 && p1 < p99 {
		rows = append(rows, bin{from: from, to: p1})
		from = p1
	}
	if p99 > from {
		n := min(max(int(math.Log(p99/from)/math.Log(rowRatio)), 1), pictureRows)
		first, ratio := from, math.Pow(p99/from, 1/float64(n))
		for i := range n {
			to := first * math.Pow(ratio, float64(i+1))
			if i == n-1 {
				to = p99 // exactly, whatever the powers round to
			}
			rows = append(rows, bin{from: from, to: to})
			from = to
		}
	} else {
		rows = append(rows, bin{from: from, to: p99})
	}
	if most > p99 {
		rows = append(rows, bin{from: p99, to: most})
	}
	i := 0
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		// A bar is as wide as the histogram's resolution. Its lower end decides on the
		// row, so that the value of a percentile is in the row that is marked with it.
		for i < len(rows)-1 && float64(bar.From) > rows[i].to {
			i++
		}
		rows[i].count += bar.Count
	}
	return rows
}

// bar draws n out of most in eighths of a cell. It is visible unless n is 0.
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
