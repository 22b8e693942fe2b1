package report

import (
	"bytes"
	"fmt"
	"io"
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

// block builds one piece of text and writes it with one call, so that the lines
// of what else writes to the same place do not fall into it.
type block struct{ bytes.Buffer }

func (b *block) linef(format string, args ...any) {
	fmt.Fprintf(&b.Buffer, format, args...)
	b.WriteByte('\n')
}

func (b *block) flush(w io.Writer) error {
	_, err := w.Write(b.Bytes())
	return err
}
