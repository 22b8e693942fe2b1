package text

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// rows collects lines of name, value and description for the figures of a record.
type rows struct {
	rec  *record.Record
	of   record.Whose // the process that figures are for, unless a line names another one
	list []row
}

func (r *rows) add(name, value, meaning string) {
	r.list = append(r.list, cells(name, value, meaning))
}

// warn adds a line, which shows a failure if bad is set.
func (r *rows) warn(bad bool, name, value, meaning string) {
	r.add(name, value, meaning)
	r.list[len(r.list)-1].bad = bad
}

// metric adds the line of a metric if the record has it.
func (r *rows) metric(q record.Quantity, format func(float64) string) {
	r.labelled(q.Label(), q, format)
}

// labelled adds the line of a metric if the record has it, with another label than its own.
func (r *rows) labelled(label string, q record.Quantity, format func(float64) string) {
	if m, ok := r.rec.Metric(q); ok {
		r.add(label, format(m.Value), r.meaning(m))
	}
}

// meaning returns the description of a figure. It names the process that the figure is for, if
// that differs from r.of.
func (r *rows) meaning(m record.Metric) string {
	if m.Whose == "" || m.Whose == r.of {
		return m.Meaning()
	}
	return m.Meaning() + "; of " + oneLine(m.Whose.Words())
}

// isOpen reports whether the record is of an open loop: operations then have response and
// wait times, and some that were offered may not have started.
func isOpen(rec *record.Record) bool {
	_, rated := rec.Metric(record.OfferedRate)
	offered, counted := rec.Counter(record.CountOffered)
	return rated || counted && offered.Value != rec.Count(record.CountStarted)
}

func loadRows(rec *record.Record) []row {
	r := rows{rec: rec}
	r.add("Metric", "Value", "Description")
	r.add("------", "-----", "-----------")
	if workers, ok := rec.Axes.Get(record.WorkersKey); ok {
		r.add("Workers", workers, "Maximum number of operations in flight")
	}
	if _, ok := rec.Counter(record.CountDone); ok {
		r.add("Total Ops", fmt.Sprint(rec.Count(record.CountDone)), "Operations that succeeded")
	}
	r.metric(record.Duration, func(v float64) string { return format.Significant(v, 5, 9) + "s" })
	r.metric(record.OfferedRate, format.Rate)
	r.labelled("Real Throughput", record.Throughput, format.Rate)
	r.metric(record.PureThroughput, format.Rate)
	r.counters()
	return r.list
}

// counters adds how many operations had which outcome, as sums that a reader can check.
func (r *rows) counters() {
	n := r.rec.Count
	if _, ok := r.rec.Counter(record.CountOffered); ok && isOpen(r.rec) {
		r.sum("Offered", n(record.CountOffered), "arrivals", []part{
			{n(record.CountStarted), "started"},
			{n(record.CountDropped), "dropped"},
			{n(record.CountNeverStarted), "never started"},
		})
		r.add("Dropped", fmt.Sprint(n(record.CountDropped)), "Arrived when the queue was full")
		r.add("Never Started", fmt.Sprint(n(record.CountNeverStarted)), "Still queued when the window closed")
	}
	if _, ok := r.rec.Counter(record.CountStarted); ok {
		r.sum("Started", n(record.CountStarted), "operations", []part{
			{n(record.CountDone), "done"}, {n(record.CountFailed), "failed"}, {n(record.CountUnfinished), "unfinished"},
		})
	}
	for _, c := range []struct{ label, name, meaning string }{
		{"Carried", record.CountCarried, "Begun or due before the window, succeeded in it: count only towards throughput"},
		{"Late", record.CountLate, "Part of done: succeeded after the window, within the grace period"},
	} {
		if v := n(c.name); v > 0 {
			r.add(c.label, fmt.Sprint(v), c.meaning)
		}
	}
	if n(record.CountWarmup) > 0 {
		r.warmup()
	}
	if _, ok := r.rec.Counter(record.CountChecked); ok {
		r.warn(n(record.CountCheckFails) > 0, "Checked", checked(r.rec), "Results checked after the window, out of all done")
	}
	if c, ok := r.rec.Counter(record.CountArena); ok {
		r.add("Arena", format.Bytes(float64(c.Value)), "Memory that keeps results until they are checked")
	}
	for _, c := range r.rec.Counters {
		if !slices.Contains(knownCounters[:], c.Name) {
			r.add(c.Name, fmt.Sprint(c.Value), "Counted in the window")
		}
	}
}

// warmup adds a line on the operations before the window.
func (r *rows) warmup() {
	n := r.rec.Count
	text := fmt.Sprint(n(record.CountWarmup))
	meaning := "Operations that ended before the window"
	if checked := n(record.CountWarmupChecked); checked > 0 {
		meaning += fmt.Sprintf("; %d of their results were checked", checked)
	}
	failed, bad := n(record.CountWarmupFailed), n(record.CountWarmupBad)
	if failed > 0 {
		text += fmt.Sprintf(", %d FAILED", failed)
	}
	if bad > 0 {
		text += fmt.Sprintf(", %d WRONG", bad)
	}
	r.warn(failed+bad > 0, "Warm-up", text, meaning)
}

var knownCounters = [...]string{
	record.CountOffered, record.CountDropped, record.CountNeverStarted, record.CountStarted, record.CountDone,
	record.CountFailed, record.CountUnfinished, record.CountLate, record.CountCarried, record.CountWarmup, record.CountChecked,
	record.CountCheckFails, record.CountArena, record.CountWarmupFailed, record.CountWarmupChecked, record.CountWarmupBad,
}

// part is a summand with its name.
type part struct {
	n    uint64
	name string
}

// sum adds a total with its parts, as a failure if they do not add up.
func (r *rows) sum(label string, total uint64, of string, parts []part) {
	text, added := "= ", uint64(0)
	for i, p := range parts {
		if i > 0 {
			text += " + "
		}
		text += fmt.Sprintf("%d %s", p.n, p.name)
		added += p.n
	}
	if added != total {
		text += fmt.Sprintf(": DOES NOT ADD UP, the sum is %d", added)
	}
	r.warn(added != total, label, fmt.Sprintf("%d %s", total, of), text)
}

func checked(rec *record.Record) string {
	s := fmt.Sprintf("%d of %d", rec.Count(record.CountChecked), rec.Count(record.CountDone))
	if bad := rec.Count(record.CountCheckFails); bad > 0 {
		s += fmt.Sprintf(", %d WRONG", bad)
	}
	return s
}

// ownMetrics returns the metrics that the workload itself reports, most of them sizes.
func ownMetrics(rec *record.Record) []record.Metric {
	return slices.DeleteFunc(slices.Clone(rec.Metrics), func(m record.Metric) bool {
		return m.Group() != record.Stages && m.Group() != record.Others
	})
}

func ownRows(rec *record.Record) []row {
	r := rows{rec: rec}
	for _, m := range ownMetrics(rec) {
		r.add(m.Name(), number(m.Value)+" "+m.Unit(), m.Meaning())
	}
	return r.list
}
