package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/figure"
	"github.com/zkbench/zkbench/internal/record"
)

// number writes v as the Go benchmark format does it: exactly where it is whole,
// otherwise with at least four significant figures.
func number(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return figure.Significant(v, 6, 9)
}

// machine is the fingerprint in one line.
func machine(e record.Env) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, GOMAXPROCS %d", figure.Machine(e), e.GOMAXPROCS)
	if e.Quota > 0 {
		fmt.Fprintf(&b, ", quota %s", figure.Significant(e.Quota, 2, 9))
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
		add("memory %s", figure.Bytes(float64(e.Memory)))
	}
	switch {
	case e.GOGC < 0:
		add("GOGC off")
	case e.GOGC > 0:
		add("GOGC %d", e.GOGC)
	}
	if e.GOMEMLIMIT > 0 {
		add("GOMEMLIMIT %s", figure.Bytes(float64(e.GOMEMLIMIT)))
	}
	if len(e.Vector) > 0 {
		add("%s", strings.Join(e.Vector, " "))
	}
	return strings.Join(parts, ", ")
}
