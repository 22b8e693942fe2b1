package text

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

func TestFormats(t *testing.T) {
	for _, test := range []struct {
		format func(float64) string
		in     float64
		want   string
	}{
		{number, 19166, "19166"},
		{number, 0.25, "0.250000"},
		{number, 41412840.4, "41412840"},
		{number, 1.5e15, "1500000000000000"},
	} {
		golden.Equal(t, fmt.Sprint(test.in), test.want, test.format(test.in))
	}
}

func TestBar(t *testing.T) {
	for _, test := range []struct {
		n, most int64
		want    string
	}{
		{0, 10, ""}, {1, 1_000_000, "▏"}, {1, barWidth, "█"}, {3, 2 * barWidth, "█▌"},
	} {
		golden.Equal(t, fmt.Sprintf("n=%d/most=%d", test.n, test.most), test.want, bar(test.n, test.most))
	}
	golden.Equal(t, "cells of the fullest row", barWidth, len([]rune(bar(10, 10))))
}
