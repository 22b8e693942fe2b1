package page_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/page"
)

var plotNames = []string{"throughput", "latency", "percentiles", "distribution", "timeline"}

// drawn counts the pixels of the chart that are of the first line's colour.
const drawn = `(() => {
	// Charts are read from copies: Chromium warns of a canvas that is read again and again.
	const copy = (width, height) => Object.assign(document.createElement('canvas'), {width, height})
		.getContext('2d', {willReadFrequently: true});
	const probe = copy(1, 1);
	probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--plot-1').trim();
	probe.fillRect(0, 0, 1, 1);
	const want = probe.getImageData(0, 0, 1, 1).data;
	let n = 0;
	for (const canvas of document.querySelectorAll('#charts canvas')) {
		if (!canvas.width || !canvas.height) continue;
		const context = copy(canvas.width, canvas.height);
		context.drawImage(canvas, 0, 0);
		const data = context.getImageData(0, 0, canvas.width, canvas.height).data;
		for (let i = 0; i < data.length; i += 4) {
			if (data[i] === want[0] && data[i + 1] === want[1] && data[i + 2] === want[2] && data[i + 3] === 255) n++;
		}
	}
	return n;
})()`

// TestLooks: every plot is drawn at any width in light and dark, and nothing but the
// table's own box scrolls sideways.
func TestLooks(t *testing.T) {
	data := sample(t)
	for _, width := range []int64{1280, 800, 360} {
		for _, prefers := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("width=%d/scheme=%s", width, prefers), func(t *testing.T) {
				b := newTab(t, width, 900)
				b.Prefer(prefers)
				b.open(data, "")
				paper := map[string]string{"light": "rgb(251, 251, 249)", "dark": "rgb(20, 22, 26)"}[prefers]
				golden.Equal(t, "background", paper, eval[string](b, `getComputedStyle(document.body).backgroundColor`))
				b.Click("#tbody tr:nth-child(3) a")
				b.Run(chromedp.WaitVisible(chromedp.CSS("#case")))
				for _, name := range plotNames {
					b.Click(`#switch input[value="` + name + `"]`)
					b.Await(`document.querySelectorAll('#charts canvas').length > 0`)
					if n := eval[int](b, drawn); n < 40 {
						t.Errorf("%s: %d pixels of the line's colour", name, n)
					}
					if wider := b.Overflow(); wider > 0 {
						t.Errorf("%s: the page is %d px wider than the window", name, wider)
					}
					b.Look(fmt.Sprintf("%d-%s-%s", width, prefers, name))
				}
				if inner := eval[bool](b, `document.getElementById('scroll').scrollWidth > document.getElementById('scroll').clientWidth`); !inner && width == 360 {
					t.Error("the table does not scroll in its box, and fits into 360 px: is it all there?")
				}
			})
		}
	}
}

// TestResize: the plots follow the window.
func TestResize(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "")
	wide := eval[int](b, `document.querySelector('#charts canvas').clientWidth`)
	b.Run(chromedp.EmulateViewport(600, 900))
	b.Await(fmt.Sprintf(`document.querySelector('#charts canvas').clientWidth < %d && document.querySelector('#charts canvas').clientWidth <= innerWidth`, wide))
	if wider := b.Overflow(); wider > 0 {
		t.Errorf("the page is %d px wider than the window", wider)
	}
}

// TestValues: each plot has its values as a table.
func TestValues(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "#w=Sender")
	b.Click("#values summary")
	for _, name := range plotNames {
		b.Click(`#switch input[value="` + name + `"]`)
		b.Await(`document.querySelectorAll('#values-table tbody tr').length >= 10`)
		if text := eval[string](b, `document.querySelector('#values-table tbody tr').innerText`); len(text) < 20 {
			t.Errorf("%s: the first value is %q", name, text)
		}
	}
}

// TestFewIsSaid: a percentile that rests on few operations is marked in the table and in the case.
func TestFewIsSaid(t *testing.T) {
	one := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
	one.Counters[1].Value = 500
	b := newTab(t, 1280, 900)
	b.open(page.Data{Records: []*record.Record{one}}, "")
	golden.Equal(t, "cells marked", 1, eval[int](b, `[...document.querySelectorAll('#tbody td')].filter(c => c.textContent.endsWith(' few')).length`))
	b.Click("#tbody tr a")
	b.Run(chromedp.WaitVisible(chromedp.CSS("#case")))
	golden.Equal(t, "figures marked", 1, eval[int](b, `[...document.querySelectorAll('#case td')].filter(c => c.textContent.endsWith(' few')).length`))
}

// TestNoPlot: a table without loads says so in the place of plots.
func TestNoPlot(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "#w=PlonkMul")
	for _, name := range plotNames {
		b.Click(`#switch input[value="` + name + `"]`)
		if text := eval[string](b, `document.getElementById('plot-about').innerText`); len(text) < 10 {
			t.Errorf("%s: says %q", name, text)
		}
		golden.Equal(t, name+": charts of nothing", 0, eval[int](b, `document.querySelectorAll('#charts canvas').length`))
	}
	heads := eval[[]string](b, `[...document.querySelectorAll('#thead button')].map(e => e.querySelector('span').innerText.trim())`)
	want := []string{"Workload", "gates", "Peak memory", "Proof", "build", "keys", "prove", "verify", "constraints", "Status"}
	golden.Equal(t, "columns of stages", want, heads)
	golden.Contains(t, eval[string](b, `document.getElementById('shared').innerText`), "Memory and CPU of the process that ran the operations", "Runs", " each: figures are medians")
}

// TestDark: a reader who changes to dark gets plots in the colours of dark.
func TestDark(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.Prefer("light")
	b.open(sample(t), "")
	b.Prefer("dark")
	b.Await(drawn + " >= 40")
}

// stays has what the page would take back after two seconds stay: a busy machine looks later.
const stays = `; window.setTimeout = (later => (f, ms, ...more) => ms === 2000 ? 0 : later(f, ms, ...more))(window.setTimeout)`

// press clicks on the button where it is, and not at a point from which a busy machine may still move it.
const press = `document.getElementById('copy').click()`

// TestCommandCopied: the command can be copied.
func TestCommandCopied(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "#w=Sender")
	b.Run(chromedp.Evaluate[chromedp.Void](`Object.defineProperty(navigator, 'clipboard', {value: {writeText: async text => { window.copied = text; }}})` + stays))
	b.Click("#tbody tr:nth-child(2) a")
	b.Run(chromedp.Evaluate[chromedp.Void](press))
	b.Await(`document.getElementById('copy').innerText === 'Copied'`)
	want := "zkbench run sender --curves BN254 --bits 32 --num-inputs 2 --num-outputs 2 --executor serial --cpus 2 --workers 2 --duration 10s --seed 1"
	golden.Equal(t, "copied", want, eval[string](b, "window.copied"))
}

// TestNoClipboard: without a clipboard the command is copied by way of the selection.
func TestNoClipboard(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "#w=Sender")
	b.Run(chromedp.Evaluate[chromedp.Void](`Object.defineProperty(navigator, 'clipboard', {value: undefined})` + stays))
	b.Click("#tbody tr:nth-child(2) a")
	b.Run(chromedp.Evaluate[chromedp.Void](press))
	b.Await(`document.getElementById('copy').innerText !== 'Copy'`)
	golden.Equal(t, "selection", eval[string](b, "document.getElementById('command').textContent"), eval[string](b, "String(getSelection())"))
}

// TestKeyboard: sort, find, open and close a case, and switch plots, without a mouse.
func TestKeyboard(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "#w=Sender")
	tabTo := func(what, is string) {
		t.Helper()
		for range 60 {
			b.Press(kb.Tab)
			if eval[bool](b, `(e => `+is+`)(document.activeElement)`) {
				return
			}
		}
		t.Fatalf("%s cannot be reached by the Tab key", what)
	}
	tabTo("the case of the sentence", `!!e.closest('#when')`)
	tabTo("the values of the first plot", `!!e.closest('#answer-values')`)
	tabTo("the filter", `e.id === 'query'`)
	b.Press("exec=serial")
	golden.Equal(t, "rows", 6, len(b.column("Workload")))
	tabTo("the head of throughput", `e.dataset.key === 'throughput'`)
	b.Press(kb.Enter)
	golden.Equal(t, "sorted", "ascending", eval[string](b, `document.querySelector('th[aria-sort]').getAttribute('aria-sort')`))
	golden.Equal(t, "focus after sorting", "throughput", eval[string](b, `document.activeElement.dataset.key`))
	tabTo("the rows", `e.tagName === 'TR'`)
	b.Press(kb.ArrowDown, kb.ArrowDown, " ")
	row := eval[string](b, `document.activeElement.dataset.key`)
	golden.Equal(t, "in the plots", []string{row}, eval[[]string](b, `[...document.querySelectorAll('#tbody tr')].filter(r => r.querySelector('input').checked).map(r => r.dataset.key)`))
	b.Press(kb.Enter)
	b.Run(chromedp.WaitVisible(chromedp.CSS("#case")))
	golden.Equal(t, "focus with the case opened", "case-title", eval[string](b, `document.activeElement.id`))
	b.Press(kb.Escape)
	b.Run(chromedp.WaitNotVisible(chromedp.CSS("#case")))
	golden.Equal(t, "focus with the case closed, on its row", row, eval[string](b, `document.activeElement.dataset.key`))
	tabTo("the plots", `e.name === 'plot'`)
	b.Press(kb.ArrowRight, kb.ArrowRight)
	golden.Equal(t, "plot", "Latency by percentile. Its values follow as a table.", eval[string](b, `document.querySelector('#charts [role=img]').getAttribute('aria-label')`))
}

// TestHeadline: the page begins with the sentence and the plot that answer; the cases, the findings and the environments
// follow. What all cases share stands above the table and is no column.
func TestHeadline(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(asked(sample(t), "Sender", "in=2/out=2"), "")
	golden.Contains(t, eval[string](b, `document.getElementById('headline').innerText`), "A transfer with two inputs and two outputs takes ", " ms on one core (P50; P99 ", " per second.")
	golden.Contains(t, eval[string](b, `document.getElementById('when').innerText`), "Sender bits=32 exec=serial cpus=1", "median of 3 processes", "Some Processor 9", "3 February 2026")
	const order = `['headline', 'answer-charts', 'table', 'findings', 'environments'].map(id => document.getElementById(id).getBoundingClientRect().top + scrollY)`
	if tops := eval[[]float64](b, order); !slices.IsSorted(tops) || tops[1] > 400 {
		t.Errorf("sentence, plot, cases, findings and environments begin at %v px", tops)
	}
	golden.Equal(t, "first plot", "Throughput by CPUs", eval[string](b, `document.getElementById('answer-title').innerText`))
	if n := eval[int](b, strings.ReplaceAll(drawn, "#charts", "#answer-charts")); n < 40 {
		t.Errorf("%d pixels of the line's colour in the first plot", n)
	}
	b.Click("#when a")
	b.Run(chromedp.WaitVisible(chromedp.CSS("#case")))

	alone := sample(t)
	alone.Records = slices.DeleteFunc(alone.Records, func(r *record.Record) bool {
		return r.Workload != "Sender" || r.Processors() != 2 || len(r.Settings) == 0
	})
	b = newTab(t, 1280, 900)
	b.open(alone, "")
	golden.Contains(t, eval[string](b, `document.getElementById('headline').innerText`), "Sender ", " takes ", " ms on two cores (P50; P99 ", " per second with two at a time.")
	golden.Equal(t, "first plot", "Time of one operation (P50)", eval[string](b, `document.getElementById('answer-title').innerText`))
	bars := eval[[]string](b, `[...document.querySelectorAll('#answer-bars li')].map(e => e.querySelector('span').innerText)`)
	golden.Equal(t, "bars", []string{"this case", "bits=64", "exec=pool"}, bars)
	golden.Contains(t, eval[string](b, `document.getElementById('shared').innerText`), "CPUs 2")
	heads := eval[[]string](b, `[...document.querySelectorAll('#thead button')].map(e => e.querySelector('span').innerText.trim())`)
	if slices.Contains(heads, "CPUs") {
		t.Errorf("columns %q", heads)
	}
}

// TestCells: no cell of any table cuts its text off, at any width.
func TestCells(t *testing.T) {
	data := sample(t)
	for _, width := range []int64{360, 800, 1280} {
		b := newTab(t, width, 800)
		b.open(data, "")
		for _, row := range []int{1, 25} { // a load, and stages
			b.Click(fmt.Sprintf("#tbody tr:nth-child(%d) a", row))
			b.Run(chromedp.WaitVisible(chromedp.CSS("#case")))
			eval[bool](b, `document.querySelectorAll('details').forEach(d => { d.open = true; d.dispatchEvent(new Event('toggle')); }) || true`)
			b.Await(`document.querySelectorAll('#answer-values td, #values td').length > 20`)
			if found := b.Clipped(); len(found) > 0 {
				t.Errorf("%d px: %d cells are cut off: %q", width, len(found), found[:min(len(found), 5)])
			}
			if wide := eval[[]string](b, `[...document.querySelectorAll('#case .scroll')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)`); len(wide) > 0 {
				t.Errorf("%d px: columns of a case are cut off: %q", width, wide)
			}
			if n := eval[int](b, `document.querySelectorAll('td').length`); n < 200 {
				t.Errorf("only %d cells", n)
			}
		}
	}
}

// TestSortable: the tables of a plot's values and of a case are sorted by their heads, three ways.
func TestSortable(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "#p=percentiles")
	b.Click("#values summary")
	b.Await(`document.querySelectorAll('#values-table tbody tr').length > 10`)
	column := func(i int) []float64 {
		return numbers(t, eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll('#values-table tbody tr')].map(tr => tr.cells[%d].innerText)`, i)))
	}
	const press = `document.querySelectorAll('#values-table th button')[2]`
	written := column(2)
	eval[bool](b, `(`+press+`.click(), true)`)
	golden.Equal(t, "sorted", true, slices.IsSorted(column(2)))
	eval[bool](b, `(`+press+`.click(), true)`)
	down := column(2)
	slices.Reverse(down)
	golden.Equal(t, "sorted the other way", true, slices.IsSorted(down))
	golden.Equal(t, "said", "descending", eval[string](b, press+`.parentNode.getAttribute('aria-sort')`))
	eval[bool](b, `(`+press+`.click(), true)`)
	golden.Equal(t, "as written", written, column(2))
	golden.Equal(t, "unit in the head", "ms", eval[string](b, press+`.querySelector('small').innerText`))
	b.Click("#tbody tr:nth-child(25) a")
	b.Run(chromedp.WaitVisible(chromedp.CSS("#case")))
	golden.Equal(t, "stages with buttons", 5, eval[int](b, `[...document.querySelectorAll('#case .block')].find(e => e.innerText.startsWith('Stages,')).querySelectorAll('th button').length`))
}

// TestPrint: on paper the sentence, the first plot and the table come first, and nothing is cut off.
func TestPrint(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(asked(sample(t), "Sender", "in=2/out=2"), "")
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.Run(chromedp.EmulateViewport(1030, 700)) // A4 landscape within its margins
	b.Await(`document.querySelector('#answer-charts canvas').clientWidth <= innerWidth`)
	if wider := b.Overflow(); wider > 0 {
		t.Errorf("the page is %d px wider than the paper", wider)
	}
	if found := b.Clipped(); len(found) > 0 {
		t.Errorf("cells are cut off: %q", found)
	}
	if tops := eval[[]float64](b, `['headline', 'answer-charts', 'table'].map(id => document.getElementById(id).getBoundingClientRect().top + scrollY)`); tops[1] > 300 || tops[2] > 900 {
		t.Errorf("sentence, plot and table begin at %v px", tops)
	}
	b.Look("print")
	pdf, err := chromedp.Call(b.Ctx, cdppage.PrintToPDF, cdppage.PrintToPDFParams{PreferCSSPageSize: new(true), PrintBackground: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("ZKBENCH_SCREENSHOTS"); dir != "" {
		must.Do(t, os.WriteFile(filepath.Join(dir, "print.pdf"), pdf.Data, 0o600))
	}
	if len(pdf.Data) < 20_000 {
		t.Errorf("a document of %d bytes", len(pdf.Data))
	}
}

// TestFacets: each workload has a plot of its own, with its name above it.
func TestFacets(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "#p=throughput")
	golden.Equal(t, "plots", []string{"Sender", "VerificationSenderProof"}, eval[[]string](b, `[...document.querySelectorAll('#charts h3')].map(e => e.innerText)`))
	golden.Equal(t, "charts", 2, eval[int](b, `document.querySelectorAll('#charts .chart').length`))
	b = newTab(t, 1280, 900)
	b.open(sample(t), "#p=throughput&w=Sender")
	golden.Equal(t, "charts of one workload", []int{1, 0}, eval[[]int](b, `[document.querySelectorAll('#charts .chart').length, document.querySelectorAll('#charts h3').length]`))
}

// TestNarrow: on a telephone a figure of each case is seen without scrolling sideways, beside
// what tells the case from the others.
func TestNarrow(t *testing.T) {
	b := newTab(t, 360, 780)
	b.open(sample(t), "#w=Sender")
	const seen = `(() => {
		const row = document.querySelector('#tbody tr');
		const figure = [...row.querySelectorAll('td.number')].find(e => e.offsetParent);
		const name = row.querySelector('.case-name').getBoundingClientRect(), at = figure.getBoundingClientRect();
		return [at.left >= name.right - 1, at.right <= innerWidth, row.querySelector('.coordinates').innerText.length > 0];
	})()`
	golden.Equal(t, "a figure is beside the name, within the window, and the case is told", []bool{true, true, true}, eval[[]bool](b, seen))
}
