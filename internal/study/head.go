package study

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Head has the values for the head of a page. The head is a text that describes the records from which the page was
// made.
type Head struct {
	Machine, Build, Date string
	Processes            int
	Rounds               int      // 0: the head does not mention rounds
	RoundsOf             string   // in Markdown, the parts that have these rounds, if the others have one; empty: all parts
	Window               string   // of the first process; empty: not mentioned
	Notes                []string // for example failed cases, and records from another build
	// TooLarge lists, by part, the cases that did not run because they need too much memory. Notes has only their sizes.
	TooLarge []string
}

// NewHead returns the head for a page made from recs. It leaves the fields Rounds, RoundsOf and Window for the caller
// to set. If there are no records, it returns the zero Head.
func NewHead(recs []*record.Record) (h Head) {
	if len(recs) == 0 {
		return h
	}
	first := recs[0]
	e := first.Env
	h.Machine = format.Machine(e)
	h.Build = e.Go
	if e.Commit != "" {
		h.Build += ", commit " + format.Commit(e.Commit)
	}
	h.Date = dates(recs)
	h.Processes = len(recs)
	unlike, builds := 0, 0
	large := make(map[string][]*record.Record) // cases that need too much memory, by part
	var parts []string
	for _, r := range recs {
		other := r.Env
		other.GOMAXPROCS = e.GOMAXPROCS // the parts differ in it
		if strings.HasSuffix(r.Process.Side, PortableSide("")) {
			other.Path = e.Path // this difference is what the part compares
		}
		if len(env.Differences(e, other)) > 0 {
			unlike++
		}
		if r.Env.Go != e.Go || r.Env.Commit != e.Commit {
			builds++
		}
		switch part := r.Process.Side; {
		case r.Status == record.OK:
		case r.TooLarge():
			if large[part] == nil {
				parts = append(parts, part)
			}
			large[part] = append(large[part], r)
		default:
			h.Notes = append(h.Notes, fmt.Sprintf("%s/%s (%s, round %d) %s: %s", r.Workload, r.Case, part, r.Process.Index+1, r.Status, r.Error))
		}
	}
	for _, part := range parts {
		var names []string
		for _, r := range large[part] {
			names = append(names, r.Workload+"/"+r.Case)
		}
		h.Notes = append(h.Notes, fmt.Sprintf("part %s: too large to run: %s%s", part, format.Plural(len(names), "case"), sizes(large[part])))
		h.TooLarge = append(h.TooLarge, fmt.Sprintf("part %s: these cases are too large for this machine and did not run: %s", part, strings.Join(names, ", ")))
	}
	if text := record.Disturbance(recs); text != "" {
		h.Notes = append(h.Notes, text)
	}
	if unlike > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("%d of %d records come from another environment than the first", unlike, len(recs)))
	}
	if builds > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("%d of %d records come from another build than the first", builds, len(recs)))
	}
	return h
}

// dates returns the day on which the records were made, or the first and the last day.
func dates(recs []*record.Record) string {
	first, last := recs[0].Time, recs[0].Time
	for _, r := range recs {
		if r.Time.Before(first) {
			first = r.Time
		}
		if r.Time.After(last) {
			last = r.Time
		}
	}
	from, to := first.UTC().Format(time.DateOnly), last.UTC().Format(time.DateOnly)
	if from == to {
		return from
	}
	return from + " to " + to
}

// sizes returns the sizes of cases, for the end of a note: the different values of the first axis with a number. It
// returns an empty string if a case has no such axis.
func sizes(recs []*record.Record) string {
	key := ""
	var values []string
	for _, r := range recs {
		i := slices.IndexFunc(r.Axes, func(a record.Axis) bool { return a.Key != record.CPUsKey && AxisNumber(r, a.Key) > 0 })
		if i < 0 || key != "" && r.Axes[i].Key != key {
			return ""
		}
		key = r.Axes[i].Key
		if text := Number(AxisNumber(r, key)); !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	return fmt.Sprintf(" (%s %s)", key, strings.Join(values, "; "))
}

// inLine replaces line breaks and HTML in a record's text, so that the text stays in its line of a page.
var inLine = strings.NewReplacer("\n", " ", "\r", " ", "<", "&lt;")

// String formats the head in Markdown: one line, then a list of the Notes.
func (h Head) String() string {
	var b strings.Builder
	if h.Machine == "" {
		b.WriteString("Nothing was measured.\n")
	} else {
		fmt.Fprintf(&b, "Measured on %s; %s; %s; %s", inLine.Replace(h.Machine), inLine.Replace(h.Build), h.Date, format.Plural(h.Processes, "process"))
		if h.Rounds > 0 {
			fmt.Fprintf(&b, ", %s", format.Plural(h.Rounds, "round"))
			if h.RoundsOf != "" {
				fmt.Fprintf(&b, " of %s, and 1 round of the other parts of the study", h.RoundsOf)
			}
		}
		if h.Window != "" {
			fmt.Fprintf(&b, "; the first process measured for %s", h.Window)
		}
		b.WriteString(".\n")
	}
	for _, n := range h.Notes {
		b.WriteString("\n- " + inLine.Replace(n))
	}
	if len(h.Notes) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// Missing formats the list of the cases that did not run in Markdown, with a heading, for the end of a page. It returns an
// empty string if all cases ran.
func (h Head) Missing() string {
	if len(h.TooLarge) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n## Cases that did not run\n")
	for _, text := range h.TooLarge {
		b.WriteString("\n- " + inLine.Replace(text))
	}
	b.WriteString("\n")
	return b.String()
}

// OrUnknown returns the name of a processor, or "unknown processor" if name is empty.
func OrUnknown(name string) string { return cmp.Or(name, "unknown processor") }
