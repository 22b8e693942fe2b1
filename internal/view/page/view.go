package page

import (
	"math"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// view is the page's data, which its script gets as JSON.
type view struct {
	Title        string        `json:"title"`
	Began        *time.Time    `json:"began,omitempty"`
	Ended        *time.Time    `json:"ended,omitempty"`
	Processes    int           `json:"processes"`
	Failed       int           `json:"failed"`              // processes
	Disturbed    string        `json:"disturbed,omitempty"` // how many processes were disturbed by other load
	Answer       answer        `json:"answer"`
	Environments []environment `json:"environments"`
	Figures      []figureView  `json:"figures"`     // those that some case has; columns of the table first
	Percentiles  []float64     `json:"percentiles"` // at which the latencies of all cases are given
	Cases        []caseView    `json:"cases"`
	Lines        lines         `json:"lines"`
	// Explained has, for each finding that some case has, what it means and what to do.
	Explained map[string]pair `json:"explained"`
	Progress  *Progress       `json:"progress,omitempty"`
}

const untitled = "zkbench report"

// viewer makes views. It keeps decoded histograms between views, because decoding takes
// processor time on the machine that is being measured.
type viewer struct{ decoded map[string]distribution }

// distribution holds the decoded histograms of a case, or a note why there are none.
type distribution struct {
	latency *latency
	note    string
}

// view returns the view of d.
func (vr *viewer) view(d Data) *view {
	v := &view{
		Title: d.Title, Processes: len(d.Records), Percentiles: grid[:], Disturbed: record.Disturbance(d.Records),
		Figures: []figureView{}, Cases: []caseView{}, // an empty list is [] in JSON, not null
		Explained: make(map[string]pair),
	}
	if v.Title == "" {
		v.Title = untitled
	}
	if p := d.Progress; p != nil && !(p.Stopped && p.Done >= p.Planned) {
		shown := *p
		v.Progress = &shown
	}
	v.times(d)
	groups := v.group(d.Records)
	v.Answer = v.answer(&d, groups)
	decoded := make(map[string]distribution, len(groups))
	var loads []*group // groups that can be plotted
	for _, g := range groups {
		known, ok := vr.decoded[g.records()]
		if !ok {
			known.latency, known.note = latencyOf(g.counted)
		}
		decoded[g.records()] = known
		c := g.view(&d)
		c.Latency, c.Note = known.latency, known.note
		v.Cases = append(v.Cases, c)
		for _, f := range c.Findings {
			if e, known := record.Explain(f.Name); known {
				v.Explained[f.Name] = pair{format.Sentence(e.Meaning), format.Sentence(e.Do)}
			}
		}
		v.addFigures(g)
		if c.OK && c.Figures[record.Throughput.Name()] != nil {
			loads = append(loads, g)
		}
	}
	v.Lines = linesOf(loads)
	vr.decoded = decoded
	return v
}

// times sets when the first record began and the last one ended.
func (v *view) times(d Data) {
	for _, r := range d.Records {
		if r.Time.IsZero() {
			continue
		}
		ended := r.Time
		for _, s := range r.Stages {
			ended = ended.Add(s.Time)
		}
		if year := ended.UTC().Year(); year < 1 || year > 9999 { // not a clock's time, and JSON cannot encode it
			continue
		}
		if v.Began == nil || r.Time.Before(*v.Began) {
			v.Began = &r.Time
		}
		if v.Ended == nil || ended.After(*v.Ended) {
			v.Ended = &ended
		}
	}
}

// addFigures inserts the figures of a case that v does not have yet, each at its place.
func (v *view) addFigures(g *group) {
	for _, r := range g.counted {
		for _, m := range metrics(r) {
			f := figureOf(m, g.staged)
			i := slices.IndexFunc(v.Figures, func(have figureView) bool { return have.Name == f.Name })
			if i >= 0 {
				v.Figures[i].Column = v.Figures[i].Column || f.Column
				continue
			}
			at := slices.IndexFunc(v.Figures, func(have figureView) bool { return have.place > f.place })
			if at < 0 {
				at = len(v.Figures)
			}
			v.Figures = slices.Insert(v.Figures, at, f)
		}
	}
}

// round returns v with n significant digits. More digits would only make the page larger.
func round(v float64, n int) float64 {
	if v == 0 {
		return 0
	}
	// Divided, not multiplied by a negative power, which is not exact.
	digits := n - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	if digits < 0 {
		scale := math.Pow10(-digits)
		return math.Round(v/scale) * scale
	}
	scale := math.Pow10(min(digits, 300))
	if r := math.Round(v*scale) / scale; !math.IsInf(r, 0) && !math.IsNaN(r) {
		return r
	}
	return v
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
