package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// caseView is one row of the table with the details of its case.
type caseView struct {
	ID       string `json:"id"`
	Env      int    `json:"env"`
	Workload string `json:"workload"`
	Axes     []pair `json:"axes"` // without cpus and workers
	CPUs     int    `json:"cpus"`
	Workers  string `json:"workers,omitempty"`
	Staged   bool   `json:"staged,omitempty"` // the case ran stages, and had no load
	Status   string `json:"status"`
	OK       bool   `json:"ok"`      // the figures are from processes that succeeded; if not, no plot has them
	Runs     int    `json:"runs"`    // number of processes
	Counted  int    `json:"counted"` // number of processes in the figures

	// Figures has, for each figure, the median of the repetitions and, if they differ,
	// their minimum and maximum.
	Figures  map[string][]float64 `json:"figures"`
	Few      []string             `json:"few,omitempty"`   // names of percentiles that rest on few operations
	Whose    map[string]string    `json:"whose,omitempty"` // for figures of a process, which process that is
	Latency  *latency             `json:"latency,omitempty"`
	Note     string               `json:"note,omitempty"` // why there is no latency
	Timeline *timeline            `json:"timeline,omitempty"`
	Stages   []stageView          `json:"stages,omitempty"`
	Counters []pair               `json:"counters,omitempty"` // sums over the repetitions
	Settings []pair               `json:"settings,omitempty"`
	Findings []finding            `json:"findings,omitempty"`
	Errors   []finding            `json:"errors,omitempty"`
	Command  string               `json:"command,omitempty"`
}

// finding is a finding or an error with the number of repetitions that have it.
type finding struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Runs int    `json:"runs"`
}

// stageView holds the medians of a stage.
type stageView struct {
	Name      string  `json:"name"`
	Time      float64 `json:"time"` // ns
	Peak      float64 `json:"peak,omitempty"`
	Allocated float64 `json:"allocated,omitempty"`
	Whose     string  `json:"whose,omitempty"` // the process that the memory figures are for
	Sizes     []pair  `json:"sizes,omitempty"`
}

// view returns the case without its latencies.
func (g *group) view(d *Data) caseView {
	first := g.first()
	c := caseView{
		ID: g.id, Env: g.env, Workload: first.Workload, Axes: []pair{}, CPUs: g.cpus, Staged: g.staged,
		Status: g.status, OK: first.Status == record.OK, Runs: len(g.all), Counted: len(g.counted),
		Figures: g.figures(), Few: g.few(), Whose: g.whose(), Timeline: timelineOf(g.counted), Stages: g.stages(), Counters: g.counters(),
	}
	if d.Command != nil {
		c.Command = d.Command(first)
	}
	if d.Settings != nil {
		c.Settings = d.Settings(first)
	}
	for _, x := range first.Coordinates() {
		if x.Key != record.WorkersKey {
			c.Axes = append(c.Axes, pair{x.Key, x.Value})
		} else if !g.staged {
			c.Workers = x.Value
		}
	}
	for _, r := range g.all {
		for _, f := range r.Findings {
			c.Findings = note(c.Findings, f.Name, f.Text)
		}
		if r.Error != "" || r.Status != record.OK {
			c.Errors = note(c.Errors, string(r.Outcome()), r.Error)
		}
	}
	return c
}

// note adds a finding to the list. If the list has it already, note counts it again.
func note(list []finding, name, text string) []finding {
	for i := range list {
		if list[i].Name == name && list[i].Text == text {
			list[i].Runs++
			return list
		}
	}
	return append(list, finding{name, text, 1})
}

// figureDigits is the number of significant digits of figures that are not exact.
const figureDigits = 5

func (g *group) figures() map[string][]float64 {
	values, exact := make(map[string][]float64), make(map[string]bool)
	for _, r := range g.counted {
		for _, m := range metrics(r) {
			values[m.Name()] = append(values[m.Name()], m.Value)
			exact[m.Name()] = m.Kind == record.Exact
		}
	}
	all := make(map[string][]float64, len(values))
	for name, v := range values {
		one := []float64{stat.Median(v)}
		if least, greatest := slices.Min(v), slices.Max(v); least != greatest {
			one = append(one, least, greatest)
		}
		if !exact[name] {
			for i := range one {
				one[i] = round(one[i], figureDigits)
			}
		}
		all[name] = one
	}
	return all
}

// few returns the names of the percentiles that rest on few operations in some repetition.
func (g *group) few() []string {
	var all []string
	for _, r := range g.counted {
		for _, m := range r.Metrics {
			if r.Few(m.Quantity) && !slices.Contains(all, m.Name()) {
				all = append(all, m.Name())
			}
		}
	}
	return all
}

// whose returns, for each figure of a process, which process that is.
func (g *group) whose() map[string]string {
	all := make(map[string]string)
	for _, r := range g.counted {
		for _, m := range metrics(r) {
			if m.Whose != "" {
				all[m.Name()] = m.Whose.Words()
			}
		}
	}
	return all
}

// stages returns the stages of the first record, each with the medians over all records.
func (g *group) stages() []stageView {
	var all []stageView
	for i, s := range g.counted[0].Stages {
		median := func(value func(record.Stage) float64) float64 {
			var values []float64
			for _, r := range g.counted {
				if i < len(r.Stages) && r.Stages[i].Name == s.Name {
					values = append(values, value(r.Stages[i]))
				}
			}
			return round(stat.Median(values), figureDigits)
		}
		one := stageView{
			Name:      s.Name,
			Time:      median(func(s record.Stage) float64 { return float64(s.Time) }),
			Peak:      median(func(s record.Stage) float64 { return float64(s.PeakRSS) }),
			Allocated: median(func(s record.Stage) float64 { return float64(s.Allocated) }),
		}
		for _, m := range s.Sizes {
			name, value := format.Named(m)
			one.Sizes = append(one.Sizes, pair{name, value})
		}
		if one.Peak+one.Allocated > 0 {
			one.Whose = s.Whose.Words()
		}
		all = append(all, one)
	}
	return all
}

// counters returns the sums of the counters over the repetitions. It leaves out the arena's
// size, which does not count events.
func (g *group) counters() []pair {
	var all []pair
	for _, c := range g.counted[0].Counters {
		if c.Name == record.CountArena {
			continue
		}
		sum := uint64(0)
		for _, r := range g.counted {
			sum += min(r.Count(c.Name), math.MaxUint64-sum)
		}
		all = append(all, pair{c.Name, strconv.FormatUint(sum, 10)})
	}
	if n := len(g.counted[0].Unfinished); n > 0 {
		oldest := g.counted[0].Unfinished[0]
		all = append(all, pair{"oldest unfinished", fmt.Sprintf("operation %d, for %v, one of %d", oldest.Seq, oldest.Age.Round(time.Millisecond), n)})
	}
	return all
}
