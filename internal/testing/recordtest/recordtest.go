// Package recordtest helps tests that use records: it parses axes, encodes histograms, reads files and
// draws random records.
package recordtest

import (
	"os"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// Axes parses axes in the form "key=value/key=value", as in the name of a case.
func Axes(text string) (all record.Axes) {
	for item := range strings.SplitSeq(text, "/") {
		if key, value, ok := strings.Cut(item, "="); ok {
			all = append(all, record.Axis{Key: key, Value: value})
		}
	}
	return all
}

// Histogram returns a histogram with the given name and values, in ns.
func Histogram(t must.TB, name string, values ...int64) record.Histogram {
	t.Helper()
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	for _, v := range values {
		must.Do(t, h.RecordValue(v))
	}
	return must.Get(record.EncodeHistogram(name, "ns", h))(t)
}

// ReadFile returns the records in a file.
func ReadFile(t must.TB, path string) []*record.Record {
	t.Helper()
	file := must.Get(os.Open(path))(t)
	defer file.Close()
	return must.Get(record.ReadAll(file))(t)
}
