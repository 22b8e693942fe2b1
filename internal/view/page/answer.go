package page

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// answer is what the page begins with: a sentence about one case, and one plot.
type answer struct {
	Sentence string      `json:"sentence"`
	Case     string      `json:"case,omitempty"` // id of the case that the sentence is about
	Plot     *answerPlot `json:"plot,omitempty"`
}

// answerPlot says what the first plot shows. The script draws it.
type answerPlot struct {
	Kind   string     `json:"kind"`
	Figure string     `json:"figure,omitempty"` // vertical axis, or the length of bars
	Key    string     `json:"key,omitempty"`    // horizontal axis, if Kind is overAxis
	Lines  []lineView `json:"lines"`            // the case's own line comes first
}

// Kinds of the first plot.
const (
	overCPUs     = "cpus"        // throughput by CPUs, or the time of a stage
	overAxis     = "axis"        // time by the values of an axis of numbers
	byCase       = "cases"       // a bar for each case
	byStage      = "stages"      // a bar for each stage of the case
	byPercentile = "percentiles" // latency of the case by percentile
)

// Bounds of what one plot can show.
const (
	mostAnswerLines = 6
	mostBars        = 12
	leastAxisValues = 3 // fewer values of an axis are shown as bars
)

// Sentence returns the sentence with which the page of d begins.
func Sentence(d Data) string {
	v := new(view)
	return v.answer(&d, v.group(d.Records)).Sentence
}

// answer chooses the case that the page begins with, and returns the sentence and the plot about it.
func (v *view) answer(d *Data, groups []*group) answer {
	asked := d.Headline
	var g *group
	if asked != nil {
		if g = chosen(groups, asked); g == nil && d.Progress != nil && !d.Progress.Stopped {
			return answer{Sentence: format.Sentence(d.phrase(asked.Workload, worded(asked.Axes)) + " is not measured yet")}
		}
	}
	if g == nil {
		asked, g = nil, central(groups)
	}
	if g == nil {
		return answer{Sentence: nothing(groups)}
	}
	named := worded(g.differing(groups))
	if asked != nil {
		named = worded(asked.Axes)
	}
	subject := d.phrase(g.first().Workload, named)
	a := answer{Sentence: format.Sentence(subject + " " + g.predicate()), Case: g.id}
	if g.first().Status == record.OK {
		a.Plot = g.plot(groups)
	}
	return a
}

// phrase describes one operation of a workload with the values of some axes.
func (d *Data) phrase(workload string, axes record.Axes) string {
	if d.Phrase != nil {
		return d.Phrase(workload, axes)
	}
	h := record.Headline{Workload: workload, Axes: axes}
	return h.String()
}

// nothing is the sentence of a page without a case that has figures.
func nothing(groups []*group) string {
	if len(groups) == 0 {
		return "Nothing is measured yet."
	}
	return format.Sentence("none of " + format.Plural(len(groups), "case") + " has figures")
}

// chosen returns the group that h chooses: the one with the fewest processors of those that are ok or, if none is ok,
// of all. It returns nil if there is none.
func chosen(groups []*group, h *record.Headline) (best *group) {
	for _, g := range groups {
		if !h.Selects(g.first().Workload, g.axes()) {
			continue
		}
		better := best == nil
		if !better {
			order := cmp.Or(cmp.Compare(rank(g), rank(best)), cmp.Compare(g.cpus, best.cpus))
			better = order < 0
		}
		if better {
			best = g
		}
	}
	return best
}

// rank orders groups: those with figures first.
func rank(g *group) int {
	if g.first().Status == record.OK {
		return 0
	}
	return 1
}

// central returns a group of the first workload with figures: among those on the fewest processors the one with the most
// neighbours, which are other such cases that differ from it in one axis. It returns nil if no group has figures.
func central(groups []*group) (best *group) {
	first := slices.IndexFunc(groups, func(g *group) bool { return g.first().Status == record.OK && g.predicateFigure() != "" })
	if first < 0 {
		return nil
	}
	alike := groups[first].peers(groups)
	fewest := slices.MinFunc(alike, func(a, b *group) int { return cmp.Compare(a.cpus, b.cpus) }).cpus
	alike = slices.DeleteFunc(alike, func(g *group) bool { return g.cpus != fewest })
	most := -1
	for _, g := range alike {
		n := 0
		for _, other := range alike {
			if distance(g.coordinates, other.coordinates) == 1 {
				n++
			}
		}
		if n > most {
			best, most = g, n
		}
	}
	return best
}

// peers returns the groups of the same workload and environment that are ok and have the same kind of figures, with
// their coordinates.
func (g *group) peers(groups []*group) (all []*group) {
	for _, other := range groups {
		if other.first().Workload == g.first().Workload && other.env == g.env && other.staged == g.staged && other.first().Status == record.OK {
			other.coordinates = other.first().Coordinates().Without(record.WorkersKey)
			all = append(all, other)
		}
	}
	return all
}

// axes returns all axes of the case, with the number of its processors.
func (g *group) axes() record.Axes {
	return append(g.first().Axes.Without(record.CPUsKey), record.Axis{Key: record.CPUsKey, Value: strconv.Itoa(g.cpus)})
}

// worded returns the axes that the subject of a sentence names. The sentence says elsewhere how many processors there
// are, and operations run one after the other unless it says so.
func worded(axes record.Axes) record.Axes {
	some := axes.Without(record.CPUsKey, record.WorkersKey, record.RateKey, record.SideKey)
	return slices.DeleteFunc(some, func(x record.Axis) bool { return x.Key == record.ExecutorKey && x.Value == record.Serial })
}

// differing returns the coordinates in which the cases of the workload differ.
func (g *group) differing(groups []*group) (axes record.Axes) {
	alike := g.peers(groups)
	for _, x := range g.first().Coordinates() {
		if slices.ContainsFunc(alike, func(other *group) bool { v, ok := other.coordinates.Get(x.Key); return !ok || v != x.Value }) {
			axes = append(axes, x)
		}
	}
	return axes
}

// distance returns in how many axes two cases differ.
func distance(a, b record.Axes) (n int) {
	for _, x := range a {
		if v, ok := b.Get(x.Key); !ok || v != x.Value {
			n++
		}
	}
	for _, x := range b {
		if _, ok := a.Get(x.Key); !ok {
			n++
		}
	}
	return n
}

// predicate says how long an operation takes, or why that is not known.
func (g *group) predicate() string {
	first := g.first()
	if first.Status != record.OK {
		why := ": " + first.Error
		if first.Error == "" {
			why = ""
		}
		switch g.status {
		case string(record.WasTooLarge):
			return "is too large for this machine" + why
		case string(record.WasRefused):
			return "was refused" + why
		case string(record.Partial):
			return "was stopped before its end" + why
		}
		return "failed" + why
	}
	on := " on " + format.Spelled(g.cpus) + " core"
	if g.cpus != 1 {
		on += "s"
	}
	if g.staged {
		return g.stagesInWords() + on
	}
	return g.loadInWords(on)
}

// loadInWords says how long an operation of a load takes, and how many there are in a second.
func (g *group) loadInWords(on string) string {
	figures := g.figures()
	p50, p99, of := record.LatencyP50, record.LatencyP99, ""
	if figures[record.ResponseP50.Name()] != nil { // an open loop
		p50, p99, of = record.ResponseP50, record.ResponseP99, " from when it is due"
	}
	rate := ""
	if v := figures[record.Throughput.Name()]; v != nil {
		rate = perSecond(v[0])
	}
	if v, ok := g.first().Axes.Get(record.WorkersKey); ok && v != "1" {
		if n, err := strconv.Atoi(v); err == nil {
			rate += " with " + format.Spelled(n) + " at a time"
		}
	}
	time := figures[p50.Name()]
	if time == nil {
		return "runs " + rate + on
	}
	text := "takes " + format.ShortTime(time[0]) + of + on + " (P50"
	if slices.Contains(g.few(), p50.Name()) {
		text += " of few operations"
	}
	if slow := figures[p99.Name()]; slow != nil && !slices.Contains(g.few(), p99.Name()) {
		text += "; P99 " + format.ShortTime(slow[0])
	}
	return text + "): " + rate
}

// perSecond formats a rate with three significant digits.
func perSecond(v float64) string {
	if v >= 1000 {
		return format.Count(v) + " per second"
	}
	return format.Significant(v, 3, 3) + " per second"
}

// stagesInWords says how long proving and verifying take or, if the case has no such stages, its longest stage.
func (g *group) stagesInWords() string {
	var parts []string
	for _, s := range g.stages() {
		if s.Name == proving || s.Name == verifying {
			parts = append(parts, format.ShortTime(s.Time)+" to "+s.Name)
		}
	}
	if len(parts) > 0 {
		return "takes " + format.Listed(parts)
	}
	longest := slices.MaxFunc(g.stages(), func(a, b stageView) int { return cmp.Compare(a.Time, b.Time) })
	return "takes " + format.ShortTime(longest.Time) + " in the stage " + longest.Name
}

// Stages of a proof.
const (
	proving   = "prove"
	verifying = "verify"
)

// predicateFigure returns the name of the figure that says how long the case takes, or an empty string if it has none.
func (g *group) predicateFigure() string {
	figures := g.figures()
	names := []string{record.ResponseP50.Name(), record.LatencyP50.Name(), record.LatencyMean.Name(), record.Throughput.Name()}
	if g.staged {
		names = []string{record.StageTime(proving).Name()}
		for _, m := range metrics(g.first()) {
			if _, ok := m.Stage(); ok {
				names = append(names, m.Name())
			}
		}
	}
	for _, name := range names {
		if figures[name] != nil {
			return name
		}
	}
	return ""
}

// plot chooses the plot that shows the case among its neighbours.
func (g *group) plot(groups []*group) *answerPlot {
	alike := g.peers(groups)
	figure := g.predicateFigure()
	if figure == "" {
		return nil
	}
	if lines := g.neighbours(alike, "", func(of []*group) int { return distinct(of, func(o *group) string { return strconv.Itoa(o.cpus) }) }); lines != nil {
		if !g.staged && g.figures()[record.Throughput.Name()] != nil {
			figure = record.Throughput.Name()
		}
		return &answerPlot{Kind: overCPUs, Figure: figure, Lines: lines}
	}
	same := slices.DeleteFunc(slices.Clone(alike), func(o *group) bool { return o.cpus != g.cpus || o.workers() != g.workers() })
	if key := g.longestAxis(same); key != "" {
		lines := g.neighbours(same, key, func(of []*group) int {
			return distinct(of, func(o *group) string { v, _ := o.coordinates.Get(key); return v })
		})
		return &answerPlot{Kind: overAxis, Figure: figure, Key: key, Lines: lines}
	}
	near := []*group{g}
	for _, o := range same {
		if o != g && len(near) < mostBars && distance(o.coordinates, g.coordinates) == 1 {
			near = append(near, o)
		}
	}
	switch {
	case len(near) > 1:
		return &answerPlot{Kind: byCase, Figure: figure, Lines: []lineView{newLineView(nil, near)}}
	case g.staged:
		return &answerPlot{Kind: byStage, Lines: []lineView{newLineView(nil, near)}}
	}
	return &answerPlot{Kind: byPercentile, Lines: []lineView{newLineView(nil, near)}}
}

func (g *group) workers() string { v, _ := g.first().Axes.Get(record.WorkersKey); return v }

// neighbours returns the lines of cases that differ only in the axis key, or in processors and workers if key is empty:
// the line of g, and those that differ from it in one axis. A line has several points, which the function count
// counts. It returns nil if the line of g has only one.
func (g *group) neighbours(alike []*group, key string, count func([]*group) int) (lines []lineView) {
	own := g.coordinates.Without(key)
	all := record.Lines(alike, func(o *group) record.Axes { return o.coordinates }, key)
	for _, want := range []int{0, 1} {
		for _, l := range all {
			if distance(l.Axes, own) == want && count(l.Cases) > 1 && len(lines) < mostAnswerLines {
				lines = append(lines, newLineView(l.Axes, l.Cases))
			}
		}
		if want == 0 && len(lines) == 0 {
			return nil
		}
	}
	return lines
}

// longestAxis returns the key of the axis of numbers along which g has the most neighbours, or an empty string if no
// axis has leastAxisValues of them.
func (g *group) longestAxis(alike []*group) (longest string) {
	most := leastAxisValues - 1
	for _, x := range g.coordinates {
		values := make(map[string]bool)
		numbers := true
		for _, o := range alike {
			if distance(o.coordinates.Without(x.Key), g.coordinates.Without(x.Key)) > 0 {
				continue
			}
			v, _ := o.coordinates.Get(x.Key)
			n, err := strconv.ParseFloat(v, 64)
			numbers = numbers && err == nil && n > 0
			values[v] = true
		}
		if numbers && len(values) > most {
			longest, most = x.Key, len(values)
		}
	}
	return longest
}

// distinct returns how many values the groups have.
func distinct(groups []*group, value func(*group) string) int {
	seen := make(map[string]bool)
	for _, g := range groups {
		seen[value(g)] = true
	}
	return len(seen)
}
