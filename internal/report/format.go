package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/record"
)

// duration writes ns with four significant figures, in the unit that fits.
func duration(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{float64(time.Second), "s"}, {float64(time.Millisecond), "ms"}, {float64(time.Microsecond), "µs"}} {
		// The bound is where four figures round up to the next unit.
		if ns >= u.size*0.99995 {
			return figures(ns/u.size, 4) + u.name
		}
	}
	return figures(ns, 4) + "ns"
}

// size writes bytes with decimal prefixes.
func size(b float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if b >= u.size*0.9995 {
			return figures(b/u.size, 3) + " " + u.name
		}
	}
	return figures(b, 3) + " B"
}

// figures writes v with n significant figures, never fewer digits than its
// integer part has, and no exponent.
func figures(v float64, n int) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	// Rounded first: 9.9999 to two figures is 10, not 10.0.
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', n-1, 64), 64)
	if err != nil || rounded == 0 {
		rounded = v
	}
	decimals := n - 1 - int(math.Floor(math.Log10(math.Abs(rounded))))
	return strconv.FormatFloat(v, 'f', min(max(decimals, 0), 9), 64)
}

// number writes v as the Go benchmark format does it: exactly where it is whole,
// otherwise with at least four significant figures.
func number(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return figures(v, 6)
}

// perSecond writes a rate.
func perSecond(v float64) string { return figures(v, 4) + "/s" }

// machine is the fingerprint in one line.
func machine(e record.Env) string {
	var b strings.Builder
	name := e.CPU
	if name == "" {
		name = "unknown processor"
	}
	fmt.Fprintf(&b, "%s, %s/%s, %s arithmetic, %d processors, GOMAXPROCS %d", name, e.OS, e.Arch, e.Path, e.Cores, e.GOMAXPROCS)
	if e.Quota > 0 {
		fmt.Fprintf(&b, ", quota %s", figures(e.Quota, 2))
	}
	if e.Governor != "" {
		fmt.Fprintf(&b, ", governor %s", e.Governor)
	}
	fmt.Fprintf(&b, ", %s", e.Go)
	return b.String()
}

// build is the rest of the fingerprint: what was built, and the collector's
// settings. It is empty where the record says nothing of them.
func build(e record.Env) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if e.Commit != "" {
		add("commit %s", e.Commit)
	}
	if e.Kernel != "" {
		add("kernel %s", e.Kernel)
	}
	if e.Memory > 0 {
		add("memory %s", size(float64(e.Memory)))
	}
	switch {
	case e.GOGC < 0:
		add("GOGC off")
	case e.GOGC > 0:
		add("GOGC %d", e.GOGC)
	}
	if e.GOMEMLIMIT > 0 {
		add("GOMEMLIMIT %s", size(float64(e.GOMEMLIMIT)))
	}
	if len(e.Vector) > 0 {
		add("%s", strings.Join(e.Vector, " "))
	}
	return strings.Join(parts, ", ")
}
