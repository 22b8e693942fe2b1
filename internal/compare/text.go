package compare

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

// columns returns the headings of a row's cells after its case.
func columns() []string {
	return []string{"metric", "old", "new", "change", "99 % interval", "floor", "sees", "n", "verdict"}
}

func (r Row) cells(gate *Gate) []string {
	metric := r.Metric
	if r.Few {
		metric += " few"
	}
	return shown(
		owned(metric, r.Whose), r.figure(r.Old), r.figure(r.New), format.Change(r.Change), r.interval(), r.relative(r.Floor),
		r.relative(r.Detectable(r.Floor)), strconv.Itoa(r.N), r.verdict(gate),
	)
}

// shown makes texts safe for a table. Records from others may have anything in their names, such as
// control sequences for the terminal or text that looks like a row.
func shown(texts ...string) []string {
	for i, text := range texts {
		texts[i] = strings.NewReplacer("\n", " ", "\t", " ").Replace(subprocess.Printable(text))
	}
	return texts
}

// owned appends to a metric whose it is, if that is known: cpu (operations).
func owned(metric string, whose record.Whose) string {
	if whose == "" {
		return metric
	}
	return metric + " (" + string(whose) + ")"
}

// heading returns the case with its package.
func heading(pkg, name string) string {
	if pkg != "" {
		name += " (" + pkg + ")"
	}
	return shown(name)[0]
}

// preamble returns the lines above the rows: the sides and remarks about the whole table.
func (t *Table) preamble() []string {
	lines := []string{"old: " + t.Old, "new: " + t.New}
	if len(t.Changed) > 0 {
		lines = append(lines, "changed: "+strings.Join(t.Changed, "; "))
	}
	if len(t.Unlike) > 0 {
		lines = append(lines, "DIFFERENT ENVIRONMENTS: "+strings.Join(t.Unlike, "; "))
	}
	if t.Partial != "" {
		lines = append(lines, "PARTIAL: "+t.Partial)
	}
	if t.Disturbed != "" {
		lines = append(lines, "BUSY MACHINE: "+t.Disturbed)
	}
	for _, text := range t.Unfit {
		lines = append(lines, "NOT COMPARED: "+text)
	}
	if n := t.judged(); n > 1 {
		lines = append(lines, fmt.Sprintf("%d rows are judged at %g %% each: if nothing has changed, expect up to %.2g wrong verdicts", n, 100*Confidence, float64(n)*(1-Confidence)))
	}
	if t.Gate != nil {
		line := "gate: " + t.Gate.Percent()
		if t.Gate.AllowBlind {
			line += "; rows that could not have seen it pass"
		}
		lines = append(lines, line)
	}
	return shown(lines...)
}

// judged returns the number of rows whose verdict could be wrong by chance.
func (t *Table) judged() (n int) {
	for _, r := range t.Rows {
		if !r.Exact && r.Verdict != Unknown {
			n++
		}
	}
	return n
}

// String returns a line that says what only one side has. Tables show this line below their rows.
func (o Only) String() string {
	text := fmt.Sprintf("only in %s: %s", o.Side, heading(o.Package, o.Case))
	if o.Metric != "" {
		text += " " + shown(owned(o.Metric, o.Whose))[0]
	}
	return text
}

// Text writes the table as text in aligned columns. The rows of a case are below a line with the
// case's name.
func (t *Table) Text(w io.Writer) error {
	var b strings.Builder
	for _, line := range t.preamble() {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintln(&b)
	rows := [][]string{columns()}
	for _, r := range t.Rows {
		rows = append(rows, r.cells(t.Gate))
	}
	// The cases' names are between the aligned lines because they are longer than any
	// column should be.
	name := ""
	for i, line := range format.Aligned(rows) {
		if i > 0 {
			if next := heading(t.Rows[i-1].Package, t.Rows[i-1].Case); next != name {
				name = next
				fmt.Fprintln(&b, name)
			}
		}
		fmt.Fprintln(&b, "  "+line)
	}
	for _, o := range t.Only {
		fmt.Fprintln(&b, o)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the table in Markdown, with columns separated by pipes.
func (t *Table) Markdown(w io.Writer) error {
	var b strings.Builder
	for _, line := range t.preamble() {
		fmt.Fprintf(&b, "%s  \n", escape(line))
	}
	row := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + escape(c) + " ")
		}
		b.WriteString("|\n")
	}
	fmt.Fprintln(&b)
	row(append([]string{"case"}, columns()...))
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|---|\n")
	name := ""
	for _, r := range t.Rows {
		of := heading(r.Package, r.Case)
		if of == name {
			of = ""
		} else {
			name = of
		}
		row(append([]string{of}, r.cells(t.Gate)...))
	}
	if len(t.Only) > 0 {
		fmt.Fprintln(&b)
	}
	for _, o := range t.Only {
		fmt.Fprintf(&b, "- %s\n", escape(o.String()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escape prevents text from ending a cell or being read as markup.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "|", `\|`, "_", `\_`, "*", `\*`, "<", "&lt;", "\n", " ", "~", `\~`, "`", "\\`").Replace(text)
}

// isTime reports whether figures with this unit are times in ns.
func isTime(unit string) bool {
	return unit == "ns" || strings.HasPrefix(unit, "ns/") || strings.HasSuffix(unit, "-ns")
}

// figure formats a value of the row: times in a fitting unit, exact figures in full, all others
// with four significant digits.
func (r Row) figure(v float64) string {
	switch {
	case isTime(r.Unit):
		return format.TightTime(v)
	case r.Exact:
		return format.Exact(v) + " " + r.Unit
	}
	return format.Prefixed(v) + " " + r.Unit
}

// interval formats the confidence interval, or a dash if there is none.
func (r Row) interval() string {
	if r.Exact || !(r.Confidence > 0) {
		return "-"
	}
	return format.Change(r.Low) + " to " + format.Change(r.High)
}

// relative formats a change without its sign, or a dash if there is none.
func (r Row) relative(change float64) string {
	if r.Exact || math.IsNaN(change) || math.IsInf(change, 0) {
		return "-"
	}
	return format.Percent(change, format.ChangeDecimals(change))
}

// verdict formats the verdict, with the reason if it is unknown, or with the result of the gate.
func (r Row) verdict(gate *Gate) string {
	switch {
	case r.Why != "":
		return string(r.Verdict) + " (" + r.Why + ")"
	case r.Tripped:
		return string(r.Verdict) + ", beyond the gate"
	case r.Accepted != "":
		return string(r.Verdict) + ", accepted: " + r.Accepted
	case r.Blind:
		return string(r.Verdict) + ", could not have seen " + gate.Percent()
	}
	return string(r.Verdict)
}
