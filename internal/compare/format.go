package compare

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"
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
		// benchunit does not put a space between figure and prefix, and neither
		// does time.Duration.
		return benchunit.Scale(v/1e9, benchunit.Decimal) + "s"
	case r.Exact:
		return trimmed(v) + " " + r.Unit
	}
	return benchunit.Scale(v, benchunit.Decimal) + " " + r.Unit
}

// trimmed writes v with at most ten significant figures and no exponent.
func trimmed(v float64) string {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 10, 64), 64)
	if err != nil {
		short = v
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// percent writes a relative change with its sign: two decimals below 10 %, one
// above.
func percent(change float64) string {
	switch {
	case math.IsNaN(change):
		return "-"
	case change == 0:
		return "0 %"
	}
	text := strconv.FormatFloat(100*change, 'f', decimals(change), 64)
	if change > 0 {
		text = "+" + text
	}
	return text + " %"
}

func decimals(change float64) int {
	if math.Abs(change) < 0.09995 {
		return 2
	}
	return 1
}

// interval writes the confidence interval, a dash where there is none.
func (r Row) interval() string {
	if r.Exact || !(r.Confidence > 0) {
		return "-"
	}
	return percent(r.Low) + " to " + percent(r.High)
}

func (r Row) floor() string {
	if r.Exact || math.IsNaN(r.Floor) {
		return "-"
	}
	return strconv.FormatFloat(100*r.Floor, 'f', decimals(r.Floor), 64) + " %"
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
