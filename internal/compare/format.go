package compare

import (
	"math"
	"strings"

	"github.com/zkbench/zkbench/internal/figure"
)

// isTime tells whether figures of this unit are times in ns.
func isTime(unit string) bool {
	return unit == "ns" || strings.HasPrefix(unit, "ns/") || strings.HasSuffix(unit, "-ns")
}

// figure writes a value of the row: times in the unit that fits, exact figures in
// full, all else with four significant figures.
func (r Row) figure(v float64) string {
	switch {
	case isTime(r.Unit):
		return figure.TightTime(v)
	case r.Exact:
		return figure.Exact(v) + " " + r.Unit
	}
	return figure.Prefixed(v) + " " + r.Unit
}

// interval writes the confidence interval, a dash where there is none.
func (r Row) interval() string {
	if r.Exact || !(r.Confidence > 0) {
		return "-"
	}
	return figure.Change(r.Low) + " to " + figure.Change(r.High)
}

func (r Row) floor() string {
	if r.Exact || math.IsNaN(r.Floor) {
		return "-"
	}
	return figure.Percent(r.Floor, figure.ChangeDecimals(r.Floor))
}

// verdict writes the verdict, and why there is none or that it trips the gate.
func (r Row) verdict() string {
	switch {
	case r.Why != "":
		return string(r.Verdict) + " (" + r.Why + ")"
	case r.Tripped:
		return string(r.Verdict) + ", beyond the gate"
	}
	return string(r.Verdict)
}
