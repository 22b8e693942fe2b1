package compare_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/view/text"
)

// TestWrittenIsCompared: what is written of any record, as JSON or in the Go benchmark format, can be
// compared, and with itself it has no row that differs.
func TestWrittenIsCompared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines, bench bytes.Buffer
		results, written := 0, 0
		for range rapid.IntRange(1, 3).Draw(t, "records") {
			rec := recordtest.Draw(t)
			if record.Write(&lines, rec) != nil {
				continue
			}
			written++
			// As it was read: what is no number is in no view.
			read := must.Get(record.ReadAll(strings.NewReader(lastLine(lines.String()))))(t)[0]
			before := bench.Len()
			must.Do(t, text.Benchmark(&bench, read))
			if bench.Len() > before {
				results++
			}
		}
		for name, data := range map[string][]byte{"records": lines.Bytes(), "benchmark output": bench.Bytes()} {
			if name == "records" && written == 0 || name != "records" && results == 0 {
				continue
			}
			set, err := compare.Load(name, data)
			if err != nil {
				t.Fatalf("%s: %v\n%q", name, err, data)
			}
			tab, err := compare.Compare(compare.Sides{Old: set, New: set}, true)
			if _, unfit := errors.AsType[*compare.UnfitError](err); err != nil && !unfit && tab == nil && !nothing(err) {
				t.Fatalf("%s: %v\n%q", name, err, data)
			}
			if tab == nil {
				continue
			}
			for _, r := range tab.Rows {
				if r.Verdict != compare.Equal && r.Verdict != compare.Same && r.Verdict != compare.Unknown {
					t.Errorf("%s: %s of %s is %s beside itself", name, r.Metric, r.Case, r.Verdict)
				}
			}
			var text bytes.Buffer
			must.Do(t, tab.Text(&text, true, 0))
			must.Do(t, tab.Markdown(&text))
			must.Do(t, tab.JSON(&text))
			must.Do(t, tab.CSV(&text))
		}
	})
}

// nothing returns the error of sets without a figure that is compared.
func nothing(err error) bool { return strings.Contains(err.Error(), "no case in common") }

func lastLine(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:] + "\n"
}

// TestTableOfAStranger: what a record says of itself moves no cursor and makes no row of its own.
func TestTableOfAStranger(t *testing.T) {
	hostile := "x\x1b[2J\nfake row\there\u202e"
	tab := compare.Table{
		Old: hostile, New: hostile, Unfit: []string{hostile},
		Rows: []compare.Row{{Package: hostile, Case: hostile, Metric: hostile, Unit: hostile, Whose: record.Whose(hostile), Why: hostile}},
		Only: []compare.Only{{Side: "old", Package: hostile, Case: hostile, Metric: hostile, Whose: record.Whose(hostile)}},
	}
	var b strings.Builder
	must.Do(t, tab.Text(&b, true, 0))
	golden.Equal(t, "lines: the answer, one not compared, a space, the head, the case, its row, one side's, unchanged, two sides", 10, strings.Count(b.String(), "\n"))
	if strings.ContainsAny(b.String(), "\x1b\t\u202e") {
		t.Errorf("%q", b.String())
	}
}
