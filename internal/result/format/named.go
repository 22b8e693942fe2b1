package format

import (
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Value formats a figure with its unit, for example 43.34ms/op, 5.98 MB or 77 constraints. Exact
// figures are not rounded.
func Value(m record.Metric) string {
	ns, per, isTime := record.TimeUnit(m.Unit())
	switch {
	case m.Kind == record.Exact:
	case isTime:
		return TightTime(ns*m.Value) + per
	case m.Unit() == "B"+per:
		return Bytes(m.Value) + per
	}
	return number(m) + " " + m.Unit()
}

func number(m record.Metric) string {
	if m.Kind == record.Exact {
		return strconv.FormatFloat(m.Value, 'f', -1, 64)
	}
	return Significant(m.Value, 4, 9)
}

// Named returns a figure's name, and its value with the unit, for a list of figures. The value does
// not repeat the name. For example, Named returns "proof" and "520 B" for a figure with the name
// proof and the unit B/proof. It returns "constraints" and "77" for a figure whose name and unit
// are both constraints.
func Named(m record.Metric) (name, value string) {
	name = m.Name()
	switch m.Unit() {
	case m.Name():
		return name, number(m)
	case "B/" + strings.ReplaceAll(m.Name(), " ", "-"):
		return name, number(m) + " B"
	}
	return name, Value(m)
}
