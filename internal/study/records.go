package study

import (
	"strconv"

	"github.com/zkbench/zkbench/internal/record"
)

// Ended returns the records of a side that ran to their end.
func Ended(recs []*record.Record, side string) (ended []*record.Record) {
	for _, r := range recs {
		if r.Process.Side == side && r.Status == record.OK {
			ended = append(ended, r)
		}
	}
	return ended
}

// Axis is the value of an axis of a record, empty where it has none.
func Axis(r *record.Record, key string) string {
	value, _ := r.Axes.Get(key)
	return value
}

// AxisNumber is the value of an axis of numbers, 0 where it has none.
func AxisNumber(r *record.Record, key string) float64 {
	v, _ := strconv.ParseFloat(Axis(r, key), 64) // 0 is what no axis has
	return v
}
