package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// mostNamed is the maximum number of changes that Answer names.
const mostNamed = 3

// changed reports whether the row shows a difference.
func (r Row) changed() bool {
	switch r.Verdict {
	case Slower, Faster, Grew, Shrank:
		return true
	}
	return r.Tripped
}

// size returns how large the row's change is. A change from 0 is larger than any other.
func (r Row) size() float64 { return math.Abs(math.Log1p(max(r.Change, -1))) }

// split returns the rows that changed, and the others in the order of the table. Rows beyond the gate come
// first, and larger changes before smaller ones.
func (t *Table) split() (changed, others []Row) {
	for _, r := range t.Rows {
		if r.changed() {
			changed = append(changed, r)
		} else {
			others = append(others, r)
		}
	}
	slices.SortStableFunc(changed, func(a, b Row) int {
		if a.Tripped != b.Tripped {
			return cmp.Compare(indicator(b.Tripped), indicator(a.Tripped))
		}
		return cmp.Compare(b.size(), a.size())
	})
	return changed, others
}

// byCase returns the rows with those of one case together, in the order of each case's first row.
func byCase(rows []Row) []Row {
	place := make(map[string]int)
	for _, r := range rows {
		if name := heading(r.Package, r.Case); place[name] == 0 {
			place[name] = len(place) + 1
		}
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Compare(place[heading(a.Package, a.Case)], place[heading(b.Package, b.Case)])
	})
	return rows
}

func indicator(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sentence says what changed in the row: "Append-8 ns/op is 12.3 % slower".
func (r Row) sentence() string {
	name := r.name()
	if math.IsInf(r.Change, 0) {
		return fmt.Sprintf("%s %s from %s to %s", name, r.Verdict, r.figure(r.Old), r.figure(r.New))
	}
	by := strings.TrimPrefix(format.Change(math.Abs(r.Change)), "+")
	switch r.Verdict {
	case Slower, Faster:
		if record.IsRate(r.Unit) {
			return fmt.Sprintf("%s %s by %s", name, map[bool]string{true: "rose", false: "fell"}[r.Change > 0], by)
		}
		return fmt.Sprintf("%s is %s %s", name, by, r.Verdict)
	}
	return fmt.Sprintf("%s %s by %s", name, r.Verdict, by)
}

// Answer returns the sentence that answers what a reader of the table asks first: what changed, by
// how much, and of how many figures; or how small a change would have been shown.
func (t *Table) Answer() string { return shown(t.answer())[0] }

func (t *Table) answer() string {
	changed, others := t.split()
	beyond := 0
	for _, r := range changed {
		if r.Tripped {
			beyond++
		}
	}
	var blind []Row
	judged, undecided := 0, 0
	for _, r := range t.Rows {
		if r.Blind {
			blind = append(blind, r)
		}
		if r.judged {
			judged++
			if !r.Exact && !stat.Decided(r.Effect, r.Floor, t.Gate.Limit, r.Better) {
				undecided++
			}
		}
	}
	if t.Pair != nil && beyond == 0 && len(blind) == 0 {
		if text := t.pairAnswer(); text != "" {
			return text
		}
	}
	switch {
	case len(blind) > 0 && beyond == 0:
		return fmt.Sprintf("%s could be worse%s, too uncertain for the gate: %s.", format.Plural(len(blind), "figure"), t.Gate.atLeast(), rowNames(blind))
	case len(changed) == 0 && judged > 0:
		text := fmt.Sprintf("No figure got worse%s, of the %d that the gate judges.", t.Gate.atLeast(), judged)
		if undecided > 0 {
			text = fmt.Sprintf("No figure is shown to be worse%s, of the %d that the gate judges.", t.Gate.atLeast(), judged)
		}
		if t.lost || t.Partial != "" || len(t.Unfit) > 0 || len(t.Unread) > 0 {
			text = "Of what could be compared: " + strings.ToLower(text[:1]) + text[1:]
		}
		return text
	case len(changed) == 0:
		return t.noChange(others)
	}
	var named []string
	for _, r := range changed[:min(len(changed), mostNamed)] {
		named = append(named, r.sentence())
	}
	text := fmt.Sprintf("%d of %s changed: ", len(changed), format.Plural(len(t.Rows), "figure"))
	switch {
	case beyond == 0 && t.Gate != nil:
		text = fmt.Sprintf("%d of %s changed, none fails the gate of %s: ", len(changed), format.Plural(len(t.Rows), "figure"), t.Gate.Percent())
	case beyond > 0:
		text = fmt.Sprintf("%d of %s changed, %d beyond the gate of %s: ", len(changed), format.Plural(len(t.Rows), "figure"), beyond, t.Gate.Percent())
	}
	text += strings.Join(named, "; ")
	if more := len(changed) - len(named); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}

// rowNames lists the figures of rows, at most a few of them.
func rowNames(rows []Row) string {
	var all []string
	for _, r := range rows[:min(len(rows), mostNamed)] {
		all = append(all, r.name())
	}
	text := strings.Join(all, "; ")
	if more := len(rows) - len(all); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// name returns the row's case and metric.
func (r Row) name() string {
	return strings.TrimSpace(heading(r.Package, r.Case)) + " " + shown(owned(r.Metric, r.Whose))[0]
}

// pairAnswer says which of the two cases of a pair takes longer. It returns "" if the table has no time of them.
func (t *Table) pairAnswer() string {
	var times []Row
	for _, r := range t.Rows {
		_, _, isTime := record.TimeUnit(r.Unit)
		if isTime && r.Case == t.Pair.String() && (slices.Contains(DefaultGated(), r.Metric) || timeOfOperation(r.Metric)) {
			times = append(times, r)
		}
	}
	for _, metric := range []string{record.LatencyP50.Name(), record.RunTime.Name()} { // rather than the minimum
		if i := slices.IndexFunc(times, func(r Row) bool { return r.Metric == metric }); i >= 0 {
			times = times[i : i+1]
		}
	}
	if len(times) == 0 || math.IsInf(times[0].Change, 0) || math.IsNaN(times[0].Change) {
		return ""
	}
	r := times[0]
	low, high := math.Abs(r.Low), math.Abs(r.High)
	interval := fmt.Sprintf("(%s to %s, %s)", percent(min(low, high)), percent(max(low, high)), r.Metric)
	sees := r.Detectable(r.Floor)
	switch {
	case r.Verdict == Slower || r.Verdict == Grew:
		return fmt.Sprintf("%s takes %s longer than %s %s.", t.Pair.New, percent(r.Change), t.Pair.Old, interval)
	case r.Verdict == Faster || r.Verdict == Shrank:
		return fmt.Sprintf("%s takes %s less time than %s %s.", t.Pair.New, percent(-r.Change), t.Pair.Old, interval)
	case r.Verdict == Equal:
		return fmt.Sprintf("%s and %s take equally long (%s).", t.Pair.Old, t.Pair.New, r.Metric)
	case r.Verdict == Unknown || math.IsInf(sees, 0):
		return fmt.Sprintf("Nothing can be said about the time of %s: %s.", t.Pair, cmp.Or(r.Why, "its interval has no bounds"))
	}
	return fmt.Sprintf("No difference in time was shown between %s and %s; one of %s would have been (%s).", t.Pair.Old, t.Pair.New, percent(sees), r.Metric)
}

// noChange is the answer if no row shows a difference.
func (t *Table) noChange(rows []Row) string {
	if len(rows) == 0 {
		return "There is no figure to compare."
	}
	seen := t.seen(rows)
	switch {
	case len(seen.least) == 0 && seen.unknown == len(rows):
		return fmt.Sprintf("Nothing can be said: %s.", seen.why)
	case len(seen.least) == 0 || seen.most() < 0.00005:
		return fmt.Sprintf("No figure changed, of %d%s.", len(rows), seen.rest())
	}
	return fmt.Sprintf("No figure changed by %s or more, of %d%s.", percent(seen.most()), len(rows), seen.rest())
}

// sight says how small a change the rows without one would have shown.
type sight struct {
	exact, unknown int
	least          []float64 // minimum detectable effects of timed rows, in ascending order
	why            string    // why the first unknown row is unknown
	noisiest       Row
}

func (t *Table) seen(rows []Row) (s sight) {
	for _, r := range rows {
		blind := !r.Exact && r.Verdict != Equal && math.IsInf(r.Detectable(r.Floor), 0)
		switch {
		case r.Verdict == Unknown || blind:
			if s.unknown++; s.why == "" {
				s.why = cmp.Or(r.Why, "their intervals have no bounds")
			}
		case r.Exact || r.Verdict == Equal:
			s.exact++
		default:
			effect := r.Detectable(r.Floor)
			if len(s.least) == 0 || effect > s.noisiest.Detectable(s.noisiest.Floor) {
				s.noisiest = r
			}
			s.least = append(s.least, effect)
		}
	}
	slices.Sort(s.least)
	return s
}

// most returns the change that all timed rows would have shown.
func (s sight) most() float64 { return s.least[len(s.least)-1] }

// rest says how many figures cannot be judged.
func (s sight) rest() string {
	if s.unknown == 0 {
		return ""
	}
	return fmt.Sprintf("; %d cannot be judged (%s)", s.unknown, s.why)
}

// unchanged returns a line about the rows that show no difference: how many there are, and how small
// a change they would have shown. It returns "" if there are none.
func (t *Table) unchanged(rows []Row) string {
	if len(rows) == 0 {
		return ""
	}
	s := t.seen(rows)
	if s.unknown == len(rows) {
		return fmt.Sprintf("not judged: %s (%s)", format.Plural(s.unknown, "figure"), shown(s.why)[0])
	}
	text := fmt.Sprintf("unchanged: %s", format.Plural(s.exact+len(s.least), "figure"))
	if n := len(s.least); n == 1 {
		text += fmt.Sprintf("; a change of %s would have been shown", percent(s.most()))
	} else if n > 1 {
		text += fmt.Sprintf("; a change of %s would have been shown by half of the %d timed ones, and of %s by all (least by %s)",
			percent(stat.Median(s.least)), n, percent(s.most()), heading(s.noisiest.Package, s.noisiest.Case)+" "+shown(s.noisiest.Metric)[0])
	}
	return text + shown(s.rest())[0]
}

func percent(share float64) string { return format.Percent(share, format.ChangeDecimals(share)) }

// means returns a line with the geometric mean of the changes of each metric that several cases have, or "" if none
// does. Figures without a ratio are left out.
func (t *Table) means() string {
	var metrics []string
	logs := make(map[string][]float64)
	for _, r := range t.Rows {
		log := math.Log1p(r.Change)
		if math.IsNaN(log) || math.IsInf(log, 0) || r.Old == 0 || r.New == 0 {
			continue
		}
		if logs[r.Metric] == nil {
			metrics = append(metrics, r.Metric)
		}
		logs[r.Metric] = append(logs[r.Metric], log)
	}
	var all []string
	for _, metric := range metrics {
		if n := len(logs[metric]); n > 1 {
			sum := 0.0
			for _, log := range logs[metric] {
				sum += log
			}
			all = append(all, fmt.Sprintf("%s %s of %d", shown(metric)[0], format.Change(math.Expm1(sum/float64(n))), n))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "geometric mean: " + strings.Join(all, ", ")
}
