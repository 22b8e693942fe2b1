// Package format writes figures as people read them: the one form of a time, of bytes, a
// rate, a change, a commit, a machine, a number of things. The script of the page writes
// the same, and both are held to testdata/figures.txt.
package format

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchunit"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Unit is a unit and its size in the base unit.
type Unit struct {
	Name string
	Size float64
}

// Units returns the units of a quantity in a base unit, the greatest first: of ns, s and B
// those that people read, of any other the base unit alone.
func Units(base string) []Unit {
	switch base {
	case "ns":
		return []Unit{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}}
	case "s":
		return []Unit{{"s", 1}, {"ms", 1e-3}, {"µs", 1e-6}, {"ns", 1e-9}}
	case "B":
		return []Unit{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}
	}
	return []Unit{{base, 1}}
}

// Fitting returns the greatest unit that v has at least one of, and the least one for what
// is less.
func Fitting(base string, v float64) Unit {
	units := Units(base)
	for _, u := range units {
		if math.Abs(v) >= u.Size {
			return u
		}
	}
	return units[len(units)-1]
}

// Time writes ns in the unit that fits, with three decimals below ten of it, two below a
// hundred, and one above: 41.26 ms.
func Time(ns float64) string {
	u := Fitting("ns", ns)
	decimals := 3
	switch v := math.Abs(ns / u.Size); {
	case v == 0:
		decimals = 0
	case v >= 100:
		decimals = 1
	case v >= 10:
		decimals = 2
	}
	return strconv.FormatFloat(ns/u.Size, 'f', decimals, 64) + " " + u.Name
}

// TightTime is Time without the space, for the columns of a terminal: 41.26ms.
func TightTime(ns float64) string { return strings.Replace(Time(ns), " ", "", 1) }

// PlainTime is Time in ASCII, for the tables of published pages: 41.26 us.
func PlainTime(ns float64) string { return strings.Replace(Time(ns), "µ", "u", 1) }

// Bytes writes a number of bytes with three significant figures and a decimal prefix.
func Bytes(b float64) string {
	u := Fitting("B", b/0.9995) // 999,999 B are 1.00 MB
	return Significant(b/u.Size, 3, 3) + " " + u.Name
}

// Rate writes a number a second with four significant figures.
func Rate(v float64) string { return Significant(v, 4, 9) + "/s" }

// Percent writes a share, given as a fraction, with so many decimals.
func Percent(share float64, decimals int) string {
	return strconv.FormatFloat(100*share, 'f', decimals, 64) + " %"
}

// Change writes a relative change with its sign: two decimals below 10 %, one above.
func Change(change float64) string {
	switch {
	case math.IsNaN(change):
		return "-"
	case math.IsInf(change, 0):
		return "from 0"
	case math.Abs(change) < 0.00005:
		return "0 %"
	}
	text := Percent(change, ChangeDecimals(change))
	if change > 0 {
		text = "+" + text
	}
	return text
}

// ChangeDecimals is how many decimals a change of this size is written with, in per cent.
func ChangeDecimals(change float64) int {
	if math.Abs(change) < 0.09995 {
		return 2
	}
	return 1
}

// Significant writes v with n significant figures, never fewer digits than its integer part
// has, at most so many decimals, and no exponent.
func Significant(v float64, n, decimals int) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	// Rounded first: 9.9999 to two figures is 10, not 10.0.
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', n-1, 64), 64)
	if err != nil || rounded == 0 {
		rounded = v
	}
	after := n - 1 - int(math.Floor(math.Log10(math.Abs(rounded))))
	return strconv.FormatFloat(v, 'f', min(max(after, 0), decimals), 64)
}

// Dirty ends the commit of a tree with changes.
const Dirty = "+dirty"

// Commit writes a commit as git abbreviates it, and whether the tree had changes; a dash of
// none.
func Commit(commit string) string {
	const digits = 7
	name, changed := strings.CutSuffix(commit, Dirty)
	name = name[:min(digits, len(name))]
	if changed {
		name += Dirty
	}
	return cmp.Or(name, "-")
}

// Machine writes what tells a machine from others of a laboratory.
func Machine(e record.Env) string {
	host := ""
	if e.Host != "" {
		host = e.Host + ": "
	}
	arithmetic := ""
	if e.Path != "" {
		arithmetic = ", " + e.Path + " arithmetic"
	}
	return fmt.Sprintf("%s%s, %s/%s%s, %d processors", host, cmp.Or(e.CPU, "unknown processor"), e.OS, e.Arch, arithmetic, e.Cores)
}

// Build is the machine and what was built: its version of Go and its commit.
func Build(e record.Env) string {
	text := Machine(e) + ", " + e.Go
	if e.Commit != "" {
		text += ", commit " + Commit(e.Commit)
	}
	return text
}

// Count writes a whole number with separators of thousands: 1,632.
func Count(v float64) string {
	digits := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if v < 0 {
		return "-" + digits
	}
	return digits
}

// Plural writes a number of things.
func Plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"):
		thing += "e"
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// Prefixed writes v with four significant figures and a decimal prefix: 12.35M.
func Prefixed(v float64) string { return benchunit.Scale(v, benchunit.Decimal) }

// Exact writes v in full, to the sixth decimal.
func Exact(v float64) string { return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) }

// Roughly is how long something will take.
func Roughly(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}
