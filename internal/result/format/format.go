// Package format formats figures for people: times, bytes, rates, changes, commits, machines and
// counts, each in one form. The script of the report's page formats figures in the same way. Tests
// check the package and the script against testdata/figures.txt.
package format

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/perf/benchunit"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Unit is a unit of measurement, with its size in the base unit.
type Unit struct {
	Name string
	Size float64
}

// Units returns the units in which a quantity with the given base unit is shown, the largest first.
// For a base unit other than ns, s and B, it returns only the base unit.
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

// Fitting returns the largest unit that is not larger than v, or the smallest unit if v is less than
// all units. The parameter v is in the base unit.
func Fitting(base string, v float64) Unit {
	units := Units(base)
	for _, u := range units {
		if math.Abs(v) >= u.Size {
			return u
		}
	}
	return units[len(units)-1]
}

// Time formats nanoseconds in the unit that Fitting returns, for example 41.26 ms. It writes three
// decimals for a number below 10, two for one below 100, and one for larger numbers. So numbers from
// 1 to 1000 have four significant digits.
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

// ShortTime formats nanoseconds with three significant digits, for a sentence: 41.3 ms.
func ShortTime(ns float64) string {
	u := Fitting("ns", ns/0.9995)
	return Significant(ns/u.Size, 3, 2) + " " + u.Name
}

// TightTime formats like Time, but without the space, for the columns of a terminal: 41.26ms.
func TightTime(ns float64) string { return strings.Replace(Time(ns), " ", "", 1) }

// PlainTime formats like Time in ASCII, for the tables of published pages: 41.26 us.
func PlainTime(ns float64) string { return strings.Replace(Time(ns), "µ", "u", 1) }

// Bytes formats a number of bytes with three significant digits and a decimal prefix: 5.98 MB.
func Bytes(b float64) string {
	u := Fitting("B", b/0.9995) // 999,999 B are 1.00 MB
	return Significant(b/u.Size, 3, 3) + " " + u.Name
}

// Rate formats a number per second with four significant digits: 24.17/s.
func Rate(v float64) string { return Significant(v, 4, 9) + "/s" }

// Percent formats a fraction as a percentage with the given number of decimals.
func Percent(share float64, decimals int) string {
	return strconv.FormatFloat(100*share, 'f', decimals, 64) + " %"
}

// Change formats a relative change as a percentage with its sign, with two decimals below 10 % and
// one decimal from 10 % on. It returns "-" for NaN and "from 0" for infinity.
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

// ChangeDecimals returns how many decimals Change writes when it formats the given change
// as a percentage.
func ChangeDecimals(change float64) int {
	if math.Abs(change) < 0.09995 {
		return 2
	}
	return 1
}

// Significant formats v with n significant digits, without an exponent. It keeps all digits of the
// integer part, and writes at most the given number of decimals.
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

// Dirty is the suffix of a commit if the working tree had uncommitted changes.
const Dirty = "+dirty"

// Commit abbreviates a commit to seven digits, as git does, and keeps the suffix Dirty. It returns a
// dash if commit is empty.
func Commit(commit string) string {
	const digits = 7
	name, changed := strings.CutSuffix(commit, Dirty)
	name = name[:min(digits, len(name))]
	if changed {
		name += Dirty
	}
	return cmp.Or(name, "-")
}

// Machine describes a machine in one line: host, processor, platform, field arithmetic and number of
// processors.
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

// Build describes a record's environment in one line: the text that Machine returns, the version of
// Go and the commit.
func Build(e record.Env) string {
	text := Machine(e) + ", " + e.Go
	if e.Commit != "" {
		text += ", commit " + Commit(e.Commit)
	}
	return text
}

// Count formats a number, rounded to an integer, with thousands separators: 1,632.
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

// Plural returns n and a noun, which is plural unless n is 1: "1 host", "2 processes".
func Plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"):
		thing += "e"
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// Spelled formats a count in a sentence: in words up to twelve, in digits from 13 on.
func Spelled(n int) string {
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n >= 0 && n < len(words) {
		return words[n]
	}
	return Count(float64(n))
}

// Listed joins texts with commas, and the last two with "and".
func Listed(texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// Sentence returns text with a capital letter at its beginning and a full stop at its end.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// Prefixed formats v with four significant digits and a decimal prefix: 12.35M.
func Prefixed(v float64) string { return benchunit.Scale(v, benchunit.Decimal) }

// Exact formats v with all its digits, rounded to six decimals.
func Exact(v float64) string { return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) }

// Roughly formats an estimated duration in one unit: 1.5 h, 12 min or 45 s.
func Roughly(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}
