package page_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/page"
)

// numbers are the values of cells.
func numbers(t *testing.T, cells []string) []float64 {
	t.Helper()
	all := make([]float64, len(cells))
	for i, c := range cells {
		v := must.Get(strconv.ParseFloat(strings.ReplaceAll(c, ",", ""), 64))(t)
		all[i] = v
	}
	return all
}

// TestSort: a column's head sorts by it, then the other way, then not at all.
func TestSort(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "")
	measured := b.column("Throughput")
	head := `#thead button[data-key="throughput"]`

	b.Click(head)
	up := b.column("Throughput")
	stages := slices.Index(up, "–") // those without a throughput come last
	if stages != len(up)-2 || !slices.IsSorted(numbers(t, up[:stages])) {
		t.Errorf("sorted by throughput: %v", up)
	}
	b.Click(head)
	down := numbers(t, b.column("Throughput")[:stages])
	slices.Reverse(down)
	if !slices.IsSorted(down) || len(down) == 0 {
		t.Errorf("sorted the other way, read from below: %v", down)
	}
	golden.Equal(t, "sorted", "descending", eval[string](b, `document.querySelector('th[aria-sort]').getAttribute('aria-sort')`))
	b.Click(head)
	golden.Equal(t, "not sorted any more", measured, b.column("Throughput"))
	b.Click(`#thead button[data-key="axis exec"]`)
	if texts := b.column("exec"); !slices.IsSorted(texts[:len(texts)-2]) || texts[0] != "pool" {
		t.Errorf("sorted by a text: %v", texts)
	}
}

// TestFilter: all words must match; key=value matches exactly.
func TestFilter(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "")
	for query, rows := range map[string]int{
		"sender":                       27,
		"VERIFICATION pool":            6,
		"workload=Sender exec=pool":    9,
		"workload=Sender cpus=4":       4,
		"bits=6":                       0,
		"bits=64 workers=1":            4,
		"status=failed":                1,
		"partial":                      1,
		"gates=16":                     1,
		"":                             29,
		"<script>alert(1)</script>":    0,
		`"quoted"`:                     0,
		"exec=pool bits=32 cpus=2 ver": 1,
	} {
		b.Set("query", query)
		golden.Equal(t, fmt.Sprintf("%q: rows", query), rows, eval[int](b, `document.querySelectorAll('#tbody tr[data-key]').length`))
		if count := eval[string](b, `document.getElementById('count').innerText`); !strings.HasPrefix(count, fmt.Sprintf("%d of 29 cases", rows)) {
			t.Errorf("%q: the count says %q", query, count)
		}
	}
}

// TestAddress: the address holds what the reader has chosen, and a page opened with it
// shows the same.
func TestAddress(t *testing.T) {
	b := newTab(t, 1280, 900)
	b.open(sample(t), "")
	b.Set("workload", "Sender")
	b.Set("query", "exec=serial & é #=%")
	golden.Equal(t, "filter in the address", "exec=serial & é #=%", eval[string](b, `new URLSearchParams(location.hash.slice(1)).get('q')`))
	b.Set("query", "exec=serial")
	b.Click(`#thead button[data-key="latency-p99"]`)
	b.Click(`#thead button[data-key="latency-p99"]`)
	b.Click(`#tbody tr:nth-child(2) input`)
	b.Click(`#tbody tr:nth-child(1) a`)
	b.Click(`#switch input[value="percentiles"]`)
	const seen = `[document.getElementById('query').value, document.getElementById('workload').value,
		[...document.querySelectorAll('#tbody tr')].map(r => r.innerText).join('|'), document.getElementById('case').innerText,
		document.getElementById('key').innerText, document.querySelector('#switch input:checked').value]`
	want := eval[[]string](b, seen)
	golden.Equal(t, "lines of cases, the open and the picked one", 2, strings.Count(want[4], "\n")+1)
	b.Run(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#case")))
	golden.Equal(t, "after a reload", want, eval[[]string](b, seen))
	eval[bool](b, `(history.back(), true)`)
	b.Await(`document.getElementById('case').hidden`)
}

// TestHostile: whatever text a record holds is shown as it is, and does nothing.
func TestHostile(t *testing.T) {
	b := newTab(t, 360, 900)
	d := hostile(t)
	b.open(d, "")
	b.Click("#tbody tr:nth-child(1) a")
	b.Run(chromedp.WaitVisible(chromedp.CSS("#case")))
	for _, name := range plotNames {
		b.Click(`#switch input[value="` + name + `"]`)
	}
	if eval[bool](b, `'owned' in window`) {
		t.Error("a text of a record has run as a script")
	}
	for selector, want := range map[string]string{"#title": d.Title, "#case-title": d.Records[0].Workload} {
		golden.Equal(t, selector, want, eval[string](b, `document.querySelector('`+selector+`').textContent`))
	}
	golden.Equal(t, "elements that the page does not make", 0, eval[int](b, `document.querySelectorAll('img, iframe, object, embed, main script').length`))
	if wider := b.Overflow(); wider > 0 {
		t.Errorf("the page is %d px wider than the window", wider)
	}
	b.Look("hostile")
}

// TestManyCases: a table of a thousand cases can be sorted and filtered.
func TestManyCases(t *testing.T) {
	first := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
	var all []*record.Record
	for i := range 1000 {
		r := *first
		r.ID, r.Case = strconv.Itoa(i), strconv.Itoa(i)
		r.Axes = append(slices.Clone(first.Axes), record.Axis{Key: "number", Value: strconv.Itoa(999 - i)})
		r.Findings = []record.Finding{{Name: "few", Text: fmt.Sprintf("case %d is one of many", i)}}
		all = append(all, &r)
	}
	b := newTab(t, 1280, 900)
	b.open(page.Data{Records: all, Command: command, Settings: jobs.Words}, "")
	b.Click(`#thead button[data-key="axis number"]`)
	if got := b.column("number"); len(got) != 1000 || got[0] != "0" || got[999] != "999" {
		t.Errorf("%d rows from %s to %s", len(got), got[0], got[len(got)-1])
	}
	b.Run(chromedp.SendKeys(chromedp.CSS("#query"), "number=77"))
	b.Await(`document.querySelectorAll('#tbody tr').length === 1`)
	if wider := b.Overflow(); wider > 0 {
		t.Errorf("the page is %d px wider than the window", wider)
	}
}

// TestServed: while a suite runs its new cases come in, and what the reader has chosen
// stays; when it cannot be read the page says so and goes on.
func TestServed(t *testing.T) {
	var mu sync.Mutex
	all := sample(t).Records
	shown, lost := 30, false
	progress := &page.Progress{Done: 30, Planned: 81, Running: "sender exec=pool", Left: 180}
	change := func(f func()) {
		mu.Lock()
		defer mu.Unlock()
		f()
	}
	server := httptest.NewServer(page.Handler(func() (page.Data, error) {
		mu.Lock()
		defer mu.Unlock()
		if lost {
			return page.Data{}, errors.New("the journal is\nnot there")
		}
		return page.Data{Title: "Suite", Records: all[:shown], Command: command, Settings: jobs.Words, Progress: progress}, nil
	}))
	defer server.Close()

	b := newTab(t, 1280, 900)
	b.Run(chromedp.Navigate(server.URL+"/#w=VerificationSenderProof&s=-throughput"), chromedp.WaitVisible(chromedp.CSS("#progress")))
	golden.Equal(t, "progress", "30 of 81 processes, about 3 min left, running sender exec=pool", eval[string](b, `document.getElementById('progress-text').innerText`))
	b.Run(chromedp.SendKeys(chromedp.CSS("#query"), "exec=pool"))
	b.Click("#tbody tr:nth-child(2) a")
	open := eval[string](b, `document.getElementById('case-title').textContent + location.hash`)
	b.Run(chromedp.Focus(chromedp.CSS("#query")))
	before := numbers(t, b.column("Throughput"))

	added := load{"VerificationSenderProof", "pool", 64, 8, 8, 0, 500 * time.Microsecond}.record(t)
	change(func() { all = slices.Insert(slices.Clone(all), 0, added); shown++; progress.Done++ })
	b.Await(fmt.Sprintf(`document.querySelectorAll('#tbody tr').length === %d`, len(before)+1))
	after := numbers(t, b.column("Throughput"))
	if after[0] <= before[0] || !slices.Equal(after[1:], before) {
		t.Errorf("throughputs were %v and are %v, want the new one first", before, after)
	}
	golden.Equal(t, "filter and focus", "exec=pool query", eval[string](b, `document.getElementById('query').value + ' ' + document.activeElement.id`))
	golden.Equal(t, "open case", open, eval[string](b, `document.getElementById('case-title').textContent + location.hash`))

	change(func() { lost = true })
	b.Await(`document.getElementById('lost').innerText.includes('the journal is not there')`)
	change(func() { lost = false; progress = nil })
	b.Await(`document.getElementById('lost').innerText === '' && document.getElementById('progress').hidden`)

	// That the answer 500 is on the console is the browser's doing.
	requests, problems := b.Seen()
	for _, p := range problems {
		golden.Contains(t, p, strconv.Itoa(http.StatusInternalServerError))
	}
	for _, url := range requests {
		if !strings.HasPrefix(url, server.URL+"/") && !strings.HasPrefix(url, "data:") {
			t.Errorf("the page asked for %s", url)
		}
	}
}
