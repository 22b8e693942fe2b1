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
	Colour bool // headings, failures and findings stand out by ANSI sequences
}

// What ANSI calls the looks of text.
const (
	Bold   = "1"
	Red    = "1;31"
	Green  = "32"
	Yellow = "33"
)

// Paint is text with one of these looks, in the style.
func (s Style) Paint(look, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + look + "m" + text + "\x1b[0m"
}

// page builds one piece of text and writes it with one call, so that the lines
// of what else writes to the same place do not fall into it.
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

// finding writes an observation; the further lines of its text are indented.
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
	bad   bool // tells of a failure
}

// table writes rows whose columns start in the same place, two cells apart, each
// line after indent.
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

// section writes a heading and its rows, and nothing where there are none.
func (p *page) section(title string, rows []row) {
	if len(rows) == 0 {
		return
	}
	p.linef("")
	p.heading(title)
	p.table(" ", rows)
}

// number writes v as the Go benchmark format does it: exactly where it is whole,
// otherwise with at least four significant figures.
func number(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return format.Significant(v, 6, 9)
}

// machineOf is the fingerprint of records in one line, without what they differ in.
func machineOf(recs []*record.Record) string {
	e := recs[0].Env
	if slices.ContainsFunc(recs, func(r *record.Record) bool { return r.Env.GOMAXPROCS != e.GOMAXPROCS }) {
		e.GOMAXPROCS = 0
	}
	return machine(e)
}

// machine is the fingerprint in one line.
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

// build is the rest of the fingerprint: what was built, and the collector's
// settings. It is empty where the record says nothing of them.
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
