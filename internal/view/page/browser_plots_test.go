package page_test

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/charts"
	"github.com/zkbench/zkbench/internal/view/page"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// values returns the points of the plot that is shown, by line. A point is the cells of its row, each followed by the
// unit or, without one, by the head of its column.
func (b *tab) values() map[string][]string {
	b.T.Helper()
	all := make(map[string][]string)
	for _, row := range eval[[][]string](b, `(document.getElementById('values').open = true,
		document.getElementById('values').dispatchEvent(new Event('toggle')),
		[...document.querySelectorAll('#values-table table')].flatMap(table => [...table.tBodies[0].rows].map(tr => [tr.cells[0].innerText, [...tr.cells].slice(1).map((cell, i) => {
			const head = table.tHead.rows[0].cells[i + 1];
			return cell.innerText + ' ' + (head.querySelector('small') || head).innerText;
		}).join(', ')])))`) {
		all[row[0]] = append(all[row[0]], row[1])
	}
	return all
}

// at is a point of latency by throughput.
type at struct {
	cpus string
	x, y float64 // operations/s, ms
}

// TestLatencyIsThePDFs: latency by throughput has the lines and points of the suite's
// document: a line is a case at different numbers of CPUs, whether workers change with them or not.
// With a filter, the lines that it does not reduce to a point stay.
func TestLatencyIsThePDFs(t *testing.T) {
	follow := func(cpus int) []int { return []int{cpus} }
	for name, test := range map[string]struct {
		workers   func(cpus int) []int
		lines     int
		oneWorker int // points of a line
		about     string
	}{
		"workers=CPUs":       {follow, 2, 1, "lines join cases that differ only in their CPUs"},
		"workers=1,2":        {func(int) []int { return []int{1, 2} }, 4, 3, "Error bars show the range of the repetitions"},
		"workers=1 and CPUs": {func(cpus int) []int { return slices.Compact([]int{1, cpus}) }, 4, 3, "1 case measured on one number of CPUs is not drawn"},
	} {
		t.Run(name, func(t *testing.T) {
			var recs []*record.Record
			for run := range 3 {
				for _, exec := range []string{"serial", "pool"} {
					for _, cpus := range []int{1, 2, 4} {
						for _, workers := range test.workers(cpus) {
							recs = append(recs, load{"Sender", exec, 32, cpus, workers, run, time.Duration(20+len(exec)) * time.Millisecond}.record(t))
						}
					}
				}
			}
			if strings.Contains(test.about, "not drawn") { // one that the document has in another chart
				recs = append(recs, load{"Sender", "pool", 64, 2, 2, 0, 20 * time.Millisecond}.record(t))
			}
			drawn := must.Get(charts.All(recs))(t)
			var want [][]at
			for _, c := range drawn {
				if f, ok := c.Figure.(*plot.Curves); ok && strings.Contains(c.Title, "latency by throughput") {
					for _, l := range f.Lines {
						var line []at
						for _, p := range l.Points {
							line = append(line, at{strings.Fields(p.Name)[0], p.X, p.Y})
						}
						want = append(want, line)
					}
				}
			}

			b := newTab(t, 1280, 900)
			b.open(page.Data{Records: recs, Command: command, Settings: jobs.Words}, "#p=latency&y=latency-mean")
			var got [][]at
			for _, points := range b.values() {
				var line []at
				for _, text := range points {
					p := regexp.MustCompile(`^(\d+) CPUs, \d+ Workers, ([\d.]+) ops/s, [\d.]+ ops/s, [\d.]+ ops/s, ([\d.]+) ms, [\d.]+ ms, [\d.]+ ms$`).FindStringSubmatch(text)
					if p == nil {
						t.Fatalf("the point %q", text)
					}
					x, _ := strconv.ParseFloat(p[2], 64)
					y, _ := strconv.ParseFloat(p[3], 64)
					line = append(line, at{p[1], x, y})
				}
				got = append(got, line)
			}
			order := func(a, b []at) int { return cmp.Or(cmp.Compare(a[len(a)-1].x, b[len(b)-1].x), len(a)-len(b)) }
			slices.SortFunc(want, order)
			slices.SortFunc(got, order)
			near := gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-3*math.Abs(a) })
			if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(at{}), near); diff != "" || len(got) != test.lines {
				t.Errorf("%d lines, want %d (-document +page):\n%s", len(got), test.lines, diff)
			}
			golden.Contains(t, eval[string](b, `document.getElementById('plot-about').innerText`), test.about)
			b.Set("query", "workers=1")
			for line, points := range b.values() {
				golden.Equal(t, "points of "+line+" with one worker", test.oneWorker, len(points))
			}
		})
	}
}

// TestLatencyByLoad: where no case has several numbers of CPUs a line is a case by its load.
func TestLatencyByLoad(t *testing.T) {
	var recs []*record.Record
	for _, workers := range []int{4, 1, 2} {
		recs = append(recs, load{"Sender", "pool", 32, 2, workers, 0, 20 * time.Millisecond}.record(t))
	}
	b := newTab(t, 1280, 900)
	b.open(page.Data{Records: recs, Command: command, Settings: jobs.Words}, "#p=latency")
	for line, points := range b.values() {
		var loads []string
		for _, p := range points {
			loads = append(loads, strings.Split(p, ", ")[1])
		}
		golden.Equal(t, line, []string{"1 Workers", "2 Workers", "4 Workers"}, loads)
	}
}

// TestNames: points have their CPUs beside them, as numbers where they are many.
func TestNames(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "#w=Sender")
	b.Run(chromedp.Evaluate[chromedp.Void](`(() => {
		const plain = CanvasRenderingContext2D.prototype.fillText;
		window.written = [];
		CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { written.push(text); return plain.call(this, text, ...at); };
	})()`))
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"exec=serial bits=32", []string{"1 CPU", "2 CPUs", "4 CPUs"}},
		{"", nil}, // numbers
	} {
		b.Click(`#switch input[value="throughput"]`)
		b.Set("query", test.query)
		eval[bool](b, `(written = [], true)`)
		b.Click(`#switch input[value="latency"]`)
		b.Await(`written.some(text => text.startsWith('throughput'))`)
		got := slices.DeleteFunc(eval[[]string](b, `written`), func(text string) bool { return !strings.Contains(text, "CPU") })
		slices.Sort(got)
		golden.Equal(t, "names of "+test.query, test.want, slices.Compact(got), cmpopts.EquateEmpty())
	}
	if n := eval[int](b, `written.filter(text => text === '4').length`); n < 1 {
		t.Error("no point is numbered 4")
	}
}

// TestSomeFailed: a case of which a repetition failed stays in the plots, with the others'
// median; a case without a successful repetition is in the table, marked, and not in any plot.
func TestSomeFailed(t *testing.T) {
	var recs []*record.Record
	for run := range 3 {
		for _, cpus := range []int{1, 2, 4} {
			recs = append(recs, load{"Sender", "pool", 32, cpus, cpus, run, 20 * time.Millisecond}.record(t))
		}
	}
	for _, r := range recs {
		switch {
		case r.Process.Index == 0 && strings.Contains(r.Case, "cpus=2"):
			r.Status, r.Error = record.Failed, "wrong result"
		case r.Process.Index == 0 && strings.Contains(r.Case, "cpus=4"):
			r.Status, r.Error = record.Failed, "timeout"
		case strings.Contains(r.Case, "cpus=4"):
			r.Status = record.Partial
		}
	}
	b := newTab(t, 1280, 900)
	b.open(page.Data{Records: recs, Command: command, Settings: jobs.Words}, "")
	golden.Equal(t, "status", []string{"ok", "failed", "failed"}, b.column("Status"))
	marks := eval[[]int](b, `[...document.querySelectorAll('#tbody tr')].map(tr => tr.querySelectorAll('.unfit').length)`)
	if marks[0] != 0 || marks[1] != 0 || marks[2] < 5 {
		t.Errorf("%v figures by row are marked", marks)
	}
	golden.Equal(t, "status of a case with a failed repetition", "failed 1 of 3", eval[string](b, `document.querySelector('#tbody tr:nth-child(2) td:last-child').innerText`))
	for _, name := range plotNames {
		b.Click(`#switch input[value="` + name + `"]`)
		if name == "percentiles" { // from here on plots of the case that is open
			b.Click("#tbody tr:nth-child(3) a")
			b.Run(chromedp.WaitVisible(chromedp.CSS("#case .notice")))
		}
		text := eval[string](b, `document.getElementById('plot-about').innerText`)
		for line, points := range b.values() {
			text += line + strings.Join(points, "; ")
		}
		// Of the last plots, of single cases, the table's first is shown.
		if two := slices.Contains(plotNames[:2], name); strings.Contains(text, "2 CPUs") != two || strings.Contains(text, "4 CPUs") || strings.Contains(text, "cpus=4") {
			t.Errorf("%s: shows %s", name, text)
		}
		if median := regexp.MustCompile(`2 CPUs, 2 Workers, ([\d.]+) ops/s`).FindStringSubmatch(text); median != nil {
			got, _ := strconv.ParseFloat(median[1], 64)
			golden.Near(t, name+": throughput", (recs[4].Value(record.Throughput)+recs[7].Value(record.Throughput))/2, got, 1e-3)
		}
	}
	b.Click("#tbody tr:nth-child(3) .pick")
	if eval[bool](b, `document.querySelector('#tbody tr:nth-child(3) input').checked`) {
		t.Error("a case without a repetition that ended well can be put into the plots")
	}
	b.Set("query", "cpus=4")
	for _, name := range plotNames {
		b.Click(`#switch input[value="` + name + `"]`)
		golden.Equal(t, name+": charts of a case that never ended well", 0, eval[int](b, `document.querySelectorAll('#charts canvas').length`))
	}
}

// TestTargets: on a phone whatever can be touched is at least 24 px wide and high.
func TestTargets(t *testing.T) {
	b := newTab(t, 360, 800)
	b.open(sample(t), "")
	b.Click("#tbody tr:nth-child(3) a")
	b.Run(chromedp.WaitVisible(chromedp.CSS("#case")))
	eval[bool](b, `document.querySelectorAll('details').forEach(d => { d.open = true; }) || true`)
	small := eval[[]string](b, `[...document.querySelectorAll('main a, button, input, select, summary')].map(e => [e, e.getBoundingClientRect()])
		.filter(([, r]) => r.width > 0 && (r.width < 24 || r.height < 24))
		.map(([e, r]) => e.tagName + ' ' + e.type + ' ' + e.innerText + ': ' + r.width + '×' + r.height)`)
	if len(small) > 0 {
		t.Errorf("%d targets below 24 px: %q", len(small), small[:min(len(small), 10)])
	}
}
