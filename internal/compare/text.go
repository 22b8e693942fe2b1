package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
)

// columns returns the columns of a table, without that of the cases.
func columns() []format.Column {
	return []format.Column{
		{Head: "metric"},
		{Head: "old", Number: true},
		{Head: "new", Number: true},
		{Head: "change", Number: true},
		{Head: "99 % interval", Number: true, Priority: 2},
		{Head: "floor", Number: true, Priority: 4},
		{Head: "sees", Number: true, Priority: 3},
		{Head: "n", Number: true, Priority: 1},
		{Head: "verdict"},
	}
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

// warnings returns lines that make the whole table doubtful, for the place below the answer.
func (t *Table) warnings() (lines []string) {
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
	for _, text := range t.Unread {
		lines = append(lines, "NOT READ: "+text)
	}
	return shown(lines...)
}

// sides returns the lines below the rows: what was compared, and how it was judged.
func (t *Table) sides() []string {
	lines := []string{"old: " + t.Old, "new: " + t.New}
	if len(t.Changed) > 0 {
		lines = append(lines, "versions: "+strings.Join(t.Changed, "; "))
	}
	if n := t.judged(); n > 1 {
		lines = append(lines, fmt.Sprintf("%d rows are judged at %g %% each: if nothing has changed, expect up to %.2g wrong verdicts", n, 100*Confidence, float64(n)*(1-Confidence)))
	}
	if t.Gate != nil {
		line := "gate: " + t.Gate.Percent() + t.plans()
		if t.Gate.AllowBlind {
			line += "; rows that could not have seen it pass"
		}
		lines = append(lines, line)
	}
	return shown(lines...)
}

// plans says how the sessions of the rows were planned.
func (t *Table) plans() string {
	var texts []string
	for _, r := range t.Rows {
		if r.Plan == (record.Plan{}) {
			continue
		}
		text := fmt.Sprintf("planned at most %s", planText(r.Plan))
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	switch {
	case len(texts) == 0:
		return ""
	case len(texts) > mostNamed:
		return fmt.Sprintf("; %d cases have plans", len(texts))
	}
	return "; " + strings.Join(texts, "; ")
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

// mostRows is the maximum number of rows that a table shows in full: with the lines about it, they fit a screen.
const mostRows = 24

// Text writes the answer, what changed, and a summary of the other rows. The rows of a case are below
// a line with the case's name. If all is set, or if there are few rows, the other rows follow. If the
// rows are wider than width, and width is not 0, columns are left out.
func (t *Table) Text(w io.Writer, all bool, width int) error {
	var b strings.Builder
	for _, line := range append([]string{t.Answer()}, t.warnings()...) {
		fmt.Fprintln(&b, line)
	}
	fmt.Fprintln(&b)
	changed, others := t.split()
	changed = byCase(changed)
	below := others
	if !all && len(t.Rows) > mostRows {
		below = nil
	}
	if table := rowTable(slices.Concat(changed, below), t.Gate); len(table.Rows) > 0 {
		if err := table.Text(&b, "  ", width); err != nil {
			return err
		}
	}
	for _, o := range t.Only {
		fmt.Fprintln(&b, o)
	}
	for _, line := range []string{t.unchanged(others), t.means()} {
		if line != "" {
			fmt.Fprintln(&b, line)
		}
	}
	if len(below) < len(others) {
		fmt.Fprintf(&b, "-v shows all %d rows\n", len(t.Rows))
	}
	for _, line := range t.sides() {
		fmt.Fprintln(&b, line)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes what Text writes, with tables in Markdown. The rows that did not change are folded.
func (t *Table) Markdown(w io.Writer) error {
	var b strings.Builder
	line := func(text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s  \n", format.Escape(text))
		}
	}
	for _, text := range append([]string{t.Answer()}, t.warnings()...) {
		line(text)
	}
	changed, others := t.split()
	if err := markdownRows(&b, byCase(changed), t.Gate); err != nil {
		return err
	}
	if len(others) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%s without a change</summary>\n", format.Plural(len(others), "row"))
		if err := markdownRows(&b, others, t.Gate); err != nil {
			return err
		}
		fmt.Fprint(&b, "\n</details>\n")
	}
	fmt.Fprintln(&b)
	for _, o := range t.Only {
		fmt.Fprintf(&b, "- %s\n", format.Escape(o.String()))
	}
	if len(t.Only) > 0 {
		fmt.Fprintln(&b)
	}
	line(t.unchanged(others))
	line(t.means())
	for _, text := range t.sides() {
		line(text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownRows writes rows as a table, if there are any.
func markdownRows(b *strings.Builder, rows []Row, gate *Gate) error {
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(b)
	return rowTable(rows, gate).Markdown(b, "case")
}

// rowTable returns a table of the rows, each with its case as title.
func rowTable(rows []Row, gate *Gate) *format.Table {
	t := &format.Table{Columns: columns()}
	for _, r := range rows {
		t.Rows = append(t.Rows, format.Row{Title: heading(r.Package, r.Case), Cells: r.cells(gate)})
	}
	return t
}

// figure formats a value of the row: times in a fitting unit, exact figures in full, all others
// with four significant digits.
func (r Row) figure(v float64) string {
	ns, _, isTime := record.TimeUnit(r.Unit)
	switch {
	case isTime:
		return format.TightTime(ns * v)
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
