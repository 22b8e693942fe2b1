// Package recordtest makes what tests need of records and no program does.
package recordtest

import (
	"encoding/json"
	"strings"

	"github.com/zkbench/zkbench/internal/record"
)

// Axes reads axes as the name of a case has them, key=value/key=value.
func Axes(text string) (all record.Axes) {
	for item := range strings.SplitSeq(text, "/") {
		if key, value, ok := strings.Cut(item, "="); ok {
			all = append(all, record.Axis{Key: key, Value: value})
		}
	}
	return all
}

// Foreign returns a metric as another program, or another version of this one, writes it.
func Foreign(name, unit string, v float64, kind record.Kind) (m record.Metric) {
	raw, err := json.Marshal(map[string]any{"name": name, "unit": unit, "kind": kind})
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		panic(err)
	}
	m.Value = v // which JSON may not hold
	return m
}
