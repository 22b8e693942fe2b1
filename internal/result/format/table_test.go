package format_test

import (
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func sample() *format.Table {
	t := &format.Table{Columns: []format.Column{{Head: "metric"}, {Head: "old", Number: true}, {Head: "floor", Number: true, Priority: 2}, {Head: "n", Number: true, Priority: 1}, {Head: "verdict"}}}
	t.Rows = []format.Row{
		{Title: "first case", Cells: []string{"ns/op", "41.26ms", "0.10 %", "8", "slower"}, Paint: func(line string) string { return ">" + line }},
		{Title: "first case", Cells: []string{"B|op", "7", "-", "8", "_same_"}},
		{Title: "second", Cells: []string{"µs", "1", "2", "3", "~"}},
	}
	return t
}

// TestTable: the forms of a table, and what it leaves out if it is too wide.
func TestTable(t *testing.T) {
	for width, want := range map[int]string{
		0: `  metric  old      floor   n  verdict
first case
>  ns/op   41.26ms  0.10 %  8  slower
  B|op    7        -       8  _same_
second
  µs      1        2       3  ~
`,
		37: `  metric  old      floor   n  verdict
first case
>  ns/op   41.26ms  0.10 %  8  slower
  B|op    7        -       8  _same_
second
  µs      1        2       3  ~
`,
		36: `  metric  old      n  verdict
first case
>  ns/op   41.26ms  8  slower
  B|op    7        8  _same_
second
  µs      1        3  ~
`,
		10: `  metric  old      verdict
first case
>  ns/op   41.26ms  slower
  B|op    7        _same_
second
  µs      1        ~
`,
	} {
		var b strings.Builder
		must.Do(t, sample().Text(&b, "  ", width))
		golden.Equal(t, "text", want, b.String())
	}
	var b strings.Builder
	must.Do(t, sample().Markdown(&b, "case"))
	golden.Equal(t, "Markdown", `| case | metric | old | floor | n | verdict |
|---|---|---:|---:|---:|---|
| first case | ns/op | 41.26ms | 0.10 % | 8 | slower |
|  | B\|op | 7 | - | 8 | \_same\_ |
| second | µs | 1 | 2 | 3 | \~ |
`, b.String())
	markup := &format.Table{Columns: format.Heads("a", "b"), Markup: true}
	markup.Add("`code`\n<b>", "x | y")
	b.Reset()
	must.Do(t, markup.Markdown(&b, ""))
	golden.Equal(t, "markup", "| a | b |\n|---|---|\n| `code` &lt;b> | x \\| y |\n", b.String())
}
