package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/page"
)

func caseWhere(t *testing.T, data shown, is func(c shownCase) bool) shownCase {
	t.Helper()
	i := slices.IndexFunc(data.Cases, is)
	if i < 0 {
		t.Fatal("no such case")
	}
	return data.Cases[i]
}

// TestFewOperations: percentiles of few operations are named in the case, for the script to mark.
func TestFewOperations(t *testing.T) {
	one := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
	one.Counters[1].Value = 500
	_, data := write(t, page.Data{Records: []*record.Record{one}})
	golden.Equal(t, "of 500 operations", []string{record.LatencyP99.Name()}, data.Cases[0].Few)
	one.Counters[1].Value = 2000
	_, data = write(t, page.Data{Records: []*record.Record{one}})
	golden.Equal(t, "of 2000 operations", nil, data.Cases[0].Few)
}

// TestRepetitions: a case has the median of its repetitions, the least and the
// greatest; its distribution is of them all.
func TestRepetitions(t *testing.T) {
	var all []*record.Record
	for run := range 3 {
		all = append(all, load{"Sender", "pool", 32, 2, 2, run, 20 * time.Millisecond}.record(t))
	}
	want := []float64{all[1].Value(record.Throughput), all[2].Value(record.Throughput), all[0].Value(record.Throughput)}
	_, data := write(t, page.Data{Records: all})
	if len(data.Cases) != 1 || data.Cases[0].Runs != 3 {
		t.Fatalf("%d cases", len(data.Cases))
	}
	c := data.Cases[0]
	for i, got := range c.Figures[record.Throughput.Name()] {
		if math.Abs(got-want[i]) > 1e-4*want[i] {
			t.Errorf("throughput %v, want %v", c.Figures[record.Throughput.Name()], want)
			break
		}
	}
	golden.Equal(t, "allocations", []float64{191}, c.Figures[record.Allocs.Name()])
	l := c.Latency
	golden.Equal(t, "distribution", fmt.Sprint(6000, " ", record.HistLatency), fmt.Sprint(l.Count, " ", l.Of))
	sum := int64(0)
	for _, n := range l.Counts {
		sum += n
	}
	if sum != 6000 || len(l.Counts) > 80 || len(l.Counts) < 10 {
		t.Errorf("%d values in %d buckets", sum, len(l.Counts))
	}
	if top := l.From * math.Pow(l.Ratio, float64(len(l.Counts))); top < l.Values[len(l.Values)-1]*0.999 {
		t.Errorf("the buckets end at %v ns, below %v ns", top, l.Values[len(l.Values)-1])
	}
	median := slices.IndexFunc(data.Percentiles, func(p float64) bool { return p >= 50 })
	golden.Near(t, "middle of the percentiles", all[1].Value(record.LatencyP50), l.Values[median], 0.03)
	if len(data.Percentiles) != 61 || len(l.Values) < 40 || len(l.Least) < 35 || len(l.Least) > len(l.Values) {
		t.Errorf("%d percentiles, %d values, %d in the band", len(data.Percentiles), len(l.Values), len(l.Least))
	}
	for i := range l.Least {
		if l.Least[i] > l.Values[i]*1.001 || l.Greatest[i] < l.Values[i]*0.999 {
			t.Errorf("P%.2f: %v is not between %v and %v", data.Percentiles[i], l.Values[i], l.Least[i], l.Greatest[i])
		}
	}
	if s := c.Timeline.Series[0]; s.Name != record.Throughput.Name() || len(s.Values) != 10 || s.Least[3] >= s.Greatest[3] {
		t.Errorf("the timeline is %+v", c.Timeline)
	}
}

// TestStatus: the worst repetition is the case's status; the figures are of those that
// ended well, or of others only where none did.
func TestStatus(t *testing.T) {
	const ok, failed, partial = record.OK, record.Failed, record.Partial
	for name, test := range map[string]struct {
		runs    []record.Status
		status  record.Status
		sound   bool
		figures []int // the runs that they are of
	}{
		"all ok":      {[]record.Status{ok, ok, ok}, ok, true, []int{0, 1, 2}},
		"one failed":  {[]record.Status{failed, ok, ok}, failed, true, []int{1, 2}},
		"one partial": {[]record.Status{ok, partial, ok}, partial, true, []int{0, 2}},
		"one ok":      {[]record.Status{failed, partial, ok}, failed, true, []int{2}},
		"none ok":     {[]record.Status{failed, partial, partial}, failed, false, []int{1, 2}},
		"all failed":  {[]record.Status{failed, failed, failed}, failed, false, []int{0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var all []*record.Record
			for i, status := range test.runs {
				r := load{"Sender", "pool", 32, 2, 2, i, 20 * time.Millisecond}.record(t)
				if r.Status = status; status != ok {
					r.Error = "wrong result"
				}
				all = append(all, r)
			}
			_, data := write(t, page.Data{Records: all})
			c := data.Cases[0]
			if len(data.Cases) != 1 || c.Status != string(test.status) || c.OK != test.sound || c.Runs != 3 || c.Counted != len(test.figures) {
				t.Errorf("the case is %+v", c)
			}
			var want []float64
			for _, i := range test.figures {
				want = append(want, all[i].Value(record.Throughput))
			}
			slices.Sort(want)
			middle := (want[(len(want)-1)/2] + want[len(want)/2]) / 2
			golden.Near(t, "throughput, the median", middle, c.Figures[record.Throughput.Name()][0], 1e-4)
			golden.Equal(t, "there are errors", len(c.Errors) > 0, slices.ContainsFunc(test.runs, func(s record.Status) bool { return s != ok }))
		})
	}
}

// TestProgress: a suite that has ended has no progress, whoever says that it was stopped.
func TestProgress(t *testing.T) {
	for name, test := range map[string]struct {
		progress *page.Progress
		shown    bool
	}{
		"none":             {nil, false},
		"runs":             {&page.Progress{Done: 3, Planned: 9}, true},
		"ends":             {&page.Progress{Done: 9, Planned: 9}, true},
		"stopped":          {&page.Progress{Done: 3, Planned: 9, Stopped: true}, true},
		"stopped, all run": {&page.Progress{Done: 9, Planned: 9, Failed: 2, Stopped: true}, false},
	} {
		if _, data := write(t, page.Data{Progress: test.progress}); (data.Progress != nil) != test.shown {
			t.Errorf("%s: shown %+v", name, data.Progress)
		}
	}
}

// TestEnvironments: unlike machines and versions are kept apart, and it is said in
// what they differ; numbers of processors are coordinates.
func TestEnvironments(t *testing.T) {
	var all []*record.Record
	for i := range 6 {
		r := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
		switch i {
		case 1:
			r.Env.CPU = "Another Processor"
		case 2:
			r.Env.Commit = "fedcba"
		case 3:
			r.Env.Modules = map[string]string{"example.org/curves": "v1.3.0"}
		case 4:
			r.Env.GOMAXPROCS = 1
		case 5:
			r.Env.Host = "alpha"
		}
		all = append(all, r)
	}
	_, data := write(t, page.Data{Records: all})
	var differences [][]string
	for _, e := range data.Environments {
		differences = append(differences, e.Differences)
	}
	want := [][]string{
		nil,
		{"cpu: Some Processor 9 / Another Processor"},
		{"commit: 0123456789abcdef / fedcba"},
		{"example.org/curves: v1.2.3 / v1.3.0"},
		{"host: unknown / alpha"},
	}
	golden.Equal(t, "differences", want, differences)
	golden.Equal(t, "name with a host", "E alpha", data.Environments[4].Name)
	if len(data.Cases) != 5 || data.Cases[0].Runs != 2 || data.Cases[3].Env != 3 {
		t.Errorf("%d cases: %+v", len(data.Cases), data.Cases)
	}
	if l := data.Lines; len(l.Throughput) != 5 || len(l.Load) != 5 || len(l.CPUs) != 0 {
		t.Errorf("the lines of 5 environments, each with one number of CPUs: %+v", l)
	}
}

// TestDamaged: a histogram that cannot be read costs a case its distribution and
// nothing else.
func TestDamaged(t *testing.T) {
	good := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t).Histograms[0].HDR
	for name, hdr := range map[string]string{
		"empty": "", "cut": good[:len(good)/2], "text": "not a histogram", "changed": strings.Replace(good, good[60:64], "AAAA", 1), "twice": good + good,
	} {
		r := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
		r.Histograms[0].HDR = hdr
		_, data := write(t, page.Data{Records: []*record.Record{r}})
		c := data.Cases[0]
		if c.Latency != nil || !strings.Contains(c.Note, "histogram of process 1 cannot be read") {
			t.Errorf("%s: note %q, distribution %v", name, c.Note, c.Latency)
		}
		if len(c.Figures[record.LatencyP50.Name()]) == 0 || c.Timeline == nil {
			t.Errorf("%s: the other figures are gone", name)
		}
	}
}

// FuzzHistogram: no histogram makes Write panic.
func FuzzHistogram(f *testing.F) {
	f.Add(load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(f).Histograms[0].HDR)
	f.Fuzz(func(t *testing.T, hdr string) {
		r := &record.Record{Histograms: []record.Histogram{{Name: record.HistLatency, Unit: "ns", HDR: hdr}}}
		var b bytes.Buffer
		must.Do(t, page.Write(&b, page.Data{Records: []*record.Record{r}}))
	})
}

// TestOddRecords: records that lack what others have, or have what JSON cannot hold,
// are shown all the same.
func TestOddRecords(t *testing.T) {
	nan := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
	nan.Metrics = append(nan.Metrics, record.Reported("odd", "", math.NaN(), record.Timed), record.Reported("odder", "", math.Inf(1), record.Timed))
	nan.Series[0].Values[2] = math.NaN()
	long := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
	long.Series = []record.Series{
		record.Throughput.Series(time.Second, slices.Repeat([]float64{10, 20}, 500)),
		record.LatencyP99.Series(time.Second, slices.Repeat([]float64{10, 20}, 500)),
	}
	for name, records := range map[string][]*record.Record{
		"none": nil, "empty": {{}}, "not a number": {nan}, "no settings": {{Settings: json.RawMessage(`[`)}}, "long": {long},
		"stages alone": {{Stages: []record.Stage{{Name: "build"}}}}, "unknown status": {{Status: "odd", Env: machine}},
	} {
		t.Run(name, func(t *testing.T) {
			_, data := write(t, page.Data{Records: records})
			if data.Title != "zkbench report" || len(data.Cases) != len(records) {
				t.Errorf("%q with %d cases of %d records", data.Title, len(data.Cases), len(records))
			}
			if name != "long" {
				return
			}
			line := data.Cases[0].Timeline
			if line.Joined != 9 || len(line.Series[0].Values) > 120 || line.Interval != 9 {
				t.Fatalf("%d points of %d intervals", len(line.Series[0].Values), line.Joined)
			}
			golden.Equal(t, "P99 of joined intervals, the greatest", 20, line.Series[1].Values[5])
		})
	}
}

// TestStagesView: a record of stages has columns of times, sizes and memory.
func TestStagesView(t *testing.T) {
	_, data := write(t, page.Data{Records: []*record.Record{staged(8, 2, 0), staged(8, 2, 1), staged(8, 2, 2)}, Command: command, Settings: jobs.Words})
	c := caseWhere(t, data, func(c shownCase) bool { return c.Workload == "PlonkMul" })
	want := map[string][]float64{
		"stage build": {0.00816, 0.008, 0.00832}, "stage keys": {0.01632, 0.016, 0.01664}, "stage prove": {0.02448, 0.024, 0.02496},
		"stage verify": {0.03264, 0.032, 0.03328}, "constraints": {8192}, "proof": {584}, "peak-rss": {8.16e6, 8e6, 8.32e6},
	}
	golden.Equal(t, "figures", want, c.Figures)
	golden.Equal(t, "CPUs", 2, c.CPUs)
	golden.Equal(t, "command", "zkbench stages plonk-mul --gates 8 --cpus 2 --seed 1", c.Command)
}

// TestNoYear: a record whose stages lead beyond the years that JSON has is shown like others, and says
// nothing of when the run was.
func TestNoYear(t *testing.T) {
	late := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
	late.Time = time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC)
	late.Stages = append(late.Stages, record.Stage{Name: "long", Time: 24 * time.Hour})
	_, data := write(t, page.Data{Records: []*record.Record{late}})
	golden.Equal(t, "cases", 1, len(data.Cases))
}
