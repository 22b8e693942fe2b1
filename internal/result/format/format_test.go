package format_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestFigures: every line of the table is what Go writes.
func TestFigures(t *testing.T) {
	of := func(write func(v float64) string) func(text string) string {
		return func(text string) string {
			v := must.Get(strconv.ParseFloat(text, 64))(t)
			return write(v)
		}
	}
	writers := map[string]func(text string) string{
		"time": of(format.Time), "tight time": of(format.TightTime), "plain time": of(format.PlainTime),
		"bytes": of(format.Bytes), "rate": of(format.Rate), "change": of(format.Change), "commit": format.Commit,
		"count":   of(format.Count),
		"percent": of(func(v float64) string { return format.Percent(v, 1) }),
		"case":    of(func(v float64) string { return format.Plural(int(v), "case") }),
		"process": of(func(v float64) string { return format.Plural(int(v), "process") }),
	}
	table := must.Get(os.ReadFile("testdata/figures.txt"))(t)
	seen := make(map[string]bool)
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		golden.Equal(t, cells[0]+" of "+cells[1], cells[2], writers[cells[0]](cells[1]))
		seen[cells[0]] = true
	}
	golden.Equal(t, "writers with lines in the table", len(writers), len(seen))
}
