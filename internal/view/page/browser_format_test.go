package page_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestFormat: the page's script writes what internal/result/format writes.
func TestFormat(t *testing.T) {
	b := newTab(t, 1280, 900)
	read := func(path string) string {
		return string(must.Get(os.ReadFile(path))(t))
	}
	writers := map[string]string{
		"time": "withUnit([v], 'ns')", "bytes": "withUnit([v], 'B')", "rate": "rate(v) + '/s'", "case": "plural(v, 'case')", "process": "plural(v, 'process', 'processes')",
	}
	checked := 0
	for line := range strings.Lines(read("../../result/format/testdata/figures.txt")) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		writer, ok := writers[cells[0]]
		if !ok {
			continue
		}
		checked++
		script := must.Get(json.Marshal("const v = " + cells[1] + ";" + read("../web/assets/format.js") + "; return " + writer))(t)
		golden.Equal(t, cells[0]+" of "+cells[1], cells[2], eval[string](b, "new Function("+string(script)+")()"))
	}
	if checked < 20 {
		t.Errorf("%d lines of the table", checked)
	}
	for _, unit := range []string{"ns", "us", "µs", "μs", "ms", "s", "sec", "ns/op", "sec/op", "p99-ms", "m", "nanos/op", "ops/s"} {
		script := must.Get(json.Marshal(read("../web/assets/format.js") + "; return withUnit([2.5], '" + unit + "')"))(t)
		want := format.Significant(2.5, 4, 9) + " " + unit
		if ns, per, isTime := record.TimeUnit(unit); isTime {
			want = format.Time(2.5*ns) + per
		}
		golden.Equal(t, unit, want, eval[string](b, "new Function("+string(script)+")()"))
	}
}
