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

// TestHTML: what a cell contains is text, numbers are aligned and have what they are sorted by, and units are in the head.
func TestHTML(t *testing.T) {
	table := &format.Table{Columns: []format.Column{{Head: "case"}, {Head: "last <b>", Unit: "µs & more", Number: true}}}
	table.Rows = []format.Row{
		{Cells: []string{"<script>alert(1)</script>", "1,024"}, Values: []string{"", "1024"}},
		{Cells: []string{`a "b" & 'c'`, "-"}, Values: []string{`x" onclick="y`}},
	}
	var b strings.Builder
	must.Do(t, table.HTML(&b, ""))
	golden.Equal(t, "HTML", `<table>
<thead><tr><th scope="col">case</th><th scope="col" class="number">last &lt;b&gt; <small>µs &amp; more</small></th></tr></thead>
<tbody>
<tr><td>&lt;script&gt;alert(1)&lt;/script&gt;</td><td class="number" data-value="1024">1,024</td></tr>
<tr><td data-value="x&#34; onclick=&#34;y">a &#34;b&#34; &amp; &#39;c&#39;</td><td class="number">-</td></tr>
</tbody>
</table>
`, b.String())
	b.Reset()
	must.Do(t, sample().HTML(&b, "of"))
	golden.Contains(t, b.String(), `<th scope="col">of</th><th scope="col">metric</th>`, "<td>second</td><td>µs</td>", `<td>first case</td><td>B|op</td><td class="number">7</td>`)
}

// TestSpelled: counts and lists in a sentence.
func TestSpelled(t *testing.T) {
	golden.Equal(t, "counts", []string{"no", "one", "twelve", "13", "1,024", "-1"}, []string{
		format.Spelled(0), format.Spelled(1), format.Spelled(12), format.Spelled(13), format.Spelled(1024), format.Spelled(-1),
	})
	golden.Equal(t, "lists", []string{"", "a", "a and b", "a, b and c"}, []string{
		format.Listed(nil), format.Listed([]string{"a"}), format.Listed([]string{"a", "b"}), format.Listed([]string{"a", "b", "c"}),
	})
	golden.Equal(t, "sentences", []string{"", "Élan.", "It is."}, []string{format.Sentence(""), format.Sentence("élan"), format.Sentence("it is.")})
	golden.Equal(t, "times", []string{"31.2 ms", "1.00 ms", "999 µs", "2.50 s", "100 ms"}, []string{
		format.ShortTime(31.24e6), format.ShortTime(999_900), format.ShortTime(999_000), format.ShortTime(2.5e9), format.ShortTime(99.99e6),
	})
}
