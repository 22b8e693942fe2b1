package text

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Style says how text looks. The zero Style is plain text, for files and pipes.
type Style struct {
	Colour bool // mark headings, failures and findings with ANSI escape sequences
}

// ANSI codes for Paint.
const (
	Bold   = "1"
	Red    = "1;31"
	Green  = "32"
	Yellow = "33"
)

// Paint returns text with the escape sequences of look: Bold, Red, Green or Yellow. If s.Colour
// is false, it returns text unchanged.
func (s Style) Paint(look, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + look + "m" + text + "\x1b[0m"
}

// page builds a text that flush writes with one call, so that lines from other writers
// do not end up in the middle of it.
type page struct {
	bytes.Buffer
	style Style
}

func (p *page) linef(format string, args ...any) {
	fmt.Fprintf(&p.Buffer, format, args...)
	p.WriteByte('\n')
}

func (p *page) heading(text string) { p.linef("%s", p.style.Paint(Bold, text)) }

func (p *page) failure(text string) { p.linef("%s", p.style.Paint(Red, text)) }

// failures writes a line for each record that is not ok.
func (p *page) failures(recs []*record.Record) {
	for _, rec := range recs {
		if rec.Status != record.OK {
			p.failed(rec, fmt.Sprintf("%s %s: %s", rec.Name(), rec.Outcome(), rec.Error))
		}
	}
}

// failed writes text about a record that is not ok. A case that was refused did not fail, so its text has no colour.
func (p *page) failed(rec *record.Record, text string) {
	if rec.Outcome().OnPurpose() {
		p.linef("%s", text)
	} else {
		p.failure(text)
	}
}

// finding writes a finding; all lines of its text after the first are indented.
func (p *page) finding(name, text string) {
	p.linef("%s: %s", p.style.Paint(Yellow, name), strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  "))
}

func (p *page) flush(w io.Writer) error {
	_, err := w.Write(p.Bytes())
	return err
}

// row is a line of a table.
type row struct {
	cells []string
	bad   bool // shows a failure
}

// table writes rows as aligned columns, each line after indent.
func (p *page) table(indent string, rows []row) {
	var all [][]string
	for _, r := range rows {
		all = append(all, r.cells)
	}
	for i, line := range format.Aligned(all) {
		if rows[i].bad {
			p.failure(indent + line)
		} else {
			p.linef("%s", indent+line)
		}
	}
}

// section writes a heading and its rows, or nothing if there are no rows.
func (p *page) section(title string, rows []row) {
	if len(rows) == 0 {
		return
	}
	p.linef("")
	p.heading(title)
	p.table(" ", rows)
}

// number formats v as the Go benchmark format does: exactly if it is an integer, otherwise
// with at least four significant figures.
func number(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return format.Significant(v, 6, 9)
}

// machineOf returns a line on the records' environment. It leaves out GOMAXPROCS if the records
// differ in it.
func machineOf(recs []*record.Record) string {
	e := recs[0].Env
	if slices.ContainsFunc(recs, func(r *record.Record) bool { return r.Env.GOMAXPROCS != e.GOMAXPROCS }) {
		e.GOMAXPROCS = 0
	}
	return machine(e)
}

// machine returns a line on the machine and its settings.
func machine(e record.Env) string {
	var b strings.Builder
	b.WriteString(format.Machine(e))
	if e.GOMAXPROCS > 0 {
		fmt.Fprintf(&b, ", GOMAXPROCS %d", e.GOMAXPROCS)
	}
	if e.Quota > 0 {
		fmt.Fprintf(&b, ", quota %s", format.Significant(e.Quota, 2, 9))
	}
	if e.Governor != "" {
		fmt.Fprintf(&b, ", governor %s", e.Governor)
	}
	fmt.Fprintf(&b, ", %s", e.Go)
	return b.String()
}

// build returns a line on the rest of the environment: commit, kernel, memory, and settings of
// the garbage collector. It is empty if the record has none of them.
func build(e record.Env) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if e.Commit != "" {
		add("commit %s", e.Commit)
	}
	if e.Kernel != "" {
		add("kernel %s", e.Kernel)
	}
	if e.Memory > 0 {
		add("memory %s", format.Bytes(float64(e.Memory)))
	}
	switch {
	case e.GOGC < 0:
		add("GOGC off")
	case e.GOGC > 0:
		add("GOGC %d", e.GOGC)
	}
	if e.GOMEMLIMIT > 0 {
		add("GOMEMLIMIT %s", format.Bytes(float64(e.GOMEMLIMIT)))
	}
	if len(e.Vector) > 0 {
		add("%s", strings.Join(e.Vector, " "))
	}
	return strings.Join(parts, ", ")
}
