package history_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/zkbench/zkbench/internal/compare/history"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/browsertest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// rates returns records of five cases over 24 days, with three processes a day. The throughput of the second case falls
// by a tenth on day 15, and that of the fourth rises by half on day 10.
func rates() (recs []*record.Record) {
	for day := range 24 {
		for c := range 5 {
			for i := range 3 {
				rate := 1000 * float64(c+1) * (1 + 0.004*float64((day*7+c*3+i*5)%11))
				if c == 1 && day >= 15 {
					rate *= 0.9
				}
				if c == 3 && day >= 10 {
					rate *= 1.5
				}
				r := ofSession(fmt.Sprint("s", day), i, sample(fmt.Sprint(day, c, i), day, throughput(rate)))
				r.Case = fmt.Sprintf("curve=BN254/bits=%d", 8<<c)
				r.Env.Commit = fmt.Sprintf("%07d", day)
				recs = append(recs, r)
			}
		}
	}
	return recs
}

func page(t *testing.T, all, shown []history.Line) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, history.Page(&b, all, shown, 0.01))
	return b.String()
}

// TestAnswer: the sentence says what changed most, by how much, when and at which commit, or over what nothing changed.
func TestAnswer(t *testing.T) {
	all := linesOf(t, history.Query{}, rates()...)
	times := counted()
	for _, r := range times {
		r.Metrics[0] = record.LatencyP95.Exact(1e6 * r.Metrics[0].Value)
	}
	short := all[0]
	short.Points = short.Points[:4]
	exact := linesOf(t, history.Query{Metric: record.Allocs.Name()}, sample("a", 0, allocs(40)), sample("b", 1, allocs(40)))
	for name, test := range map[string]struct {
		lines []history.Line
		want  string
	}{
		"faster":    {all, `^Sender curve=BN254 bits=64 got faster: its throughput rose by (49|5[01])\.\d % on 2026-01-11, with commit 0000010\. It is the largest change; 2 of 5 lines changed\.$`},
		"slower":    {all[:3], `^Sender curve=BN254 bits=16 got slower: its throughput fell by (9\.\d\d|10\.\d) % on 2026-01-16, with commit 0000015\. It is the only one of 3 lines that changed\.$`},
		"alone":     {all[1:2], `^Sender curve=BN254 bits=16 got slower: its throughput fell by .* with commit 0000015\.$`},
		"times":     {linesOf(t, history.Query{Metric: "latency-p95"}, times...), `^Sender curve=BN254 bits=32 got slower: its latency p95 rose by 25\.0 % on 2026-01-02, with commit aaaaaaa\+dirty\. It is the only one of 2 lines that changed\.$`},
		"counts":    {linesOf(t, history.Query{Metric: "allocs"}, counted()...), `^Sender curve=BN254 bits=32 got worse: its allocs rose by 25\.0 % on 2026-01-02, `},
		"none":      {all[:1], `^No case got slower or faster: throughput has no step in 1 line from 2026-01-01 to 2026-01-24\.$`},
		"no counts": {exact, `^Nothing changed: allocs has no step in 1 line from 2026-01-01 to 2026-01-02\.$`},
		"too short": {[]history.Line{short}, `^It is too early to tell: no line of throughput has the 10 points that a step at level 0\.01 needs\.$`},
	} {
		if got := history.Answer(test.lines, 0.01); !regexp.MustCompile(test.want).MatchString(got) {
			t.Errorf("%s: %q, want %s", name, got, test.want)
		}
	}
}

// TestPage: the page holds all that it needs, shows texts as they are, and begins with the chart of the largest step.
func TestPage(t *testing.T) {
	recs := rates()
	const harm = `</script><img src=x onerror="owned=1">`
	for _, r := range recs {
		r.Env.CPU, r.Env.Commit = harm, harm+r.Env.Commit
	}
	all := linesOf(t, history.Query{}, recs...)
	text := page(t, all, all)
	golden.Equal(t, "scripts", 2, strings.Count(text, "<script"))
	golden.Equal(t, "images", 0, strings.Count(text, "<img"))
	golden.Contains(t, text, `default-src &#39;none&#39;; script-src &#39;sha256-`, "connect-src &#39;none&#39;")
	if strings.Contains(text, "unsafe") {
		t.Error("the policy allows what is unsafe")
	}
	titles := regexp.MustCompile(`<h2 id="line-\d+-title">([^<]*)</h2>|<h2 id="(lines-title)">`).FindAllStringSubmatch(text, -1)
	var order []string
	for _, m := range titles {
		order = append(order, m[1]+m[2])
	}
	golden.Equal(t, "order", []string{"Sender curve=BN254 bits=64", "lines-title", "Sender curve=BN254 bits=8", "Sender curve=BN254 bits=16", "Sender curve=BN254 bits=32", "Sender curve=BN254 bits=128"}, order)
	golden.Contains(t, text, `<th scope="col" class="number">last throughput <small>ops/s</small></th>`, `<th scope="col" class="number">largest step <small>%</small></th>`)

	none := page(t, all[:1], nil) // --steps without a step
	golden.Contains(t, none, "No case got slower or faster")
	golden.Equal(t, "charts", 0, strings.Count(none, `class="charts"`))
}

// TestPageLooks: the page fits every width in light and dark, is sorted by its heads with the keyboard, and is printed.
func TestPageLooks(t *testing.T) {
	all := linesOf(t, history.Query{}, rates()...)
	html := []byte(page(t, all, all))
	for _, width := range []int64{360, 800, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b := browsertest.New(t, width, 900)
			b.Prefer(scheme)
			b.Open(html, "", ".chart canvas")
			golden.Equal(t, "charts", 5, browsertest.Eval[int](b, `document.querySelectorAll('.chart canvas').length`))
			browsertest.Eval[bool](b, `document.querySelectorAll('details.values').forEach(d => { d.open = true; }) || true`)
			if wider := b.Overflow(); wider > 0 {
				t.Errorf("%d px: the page is %d px wider than the window", width, wider)
			}
			if found := b.Clipped(); len(found) > 0 {
				t.Errorf("%d px: %d cells are cut off: %q", width, len(found), found[:min(len(found), 5)])
			}
			b.Look(fmt.Sprintf("history-%d-%s", width, scheme))
		}
	}
	b := browsertest.New(t, 1280, 900)
	b.Open(html, "", ".chart canvas")
	column := func() []string {
		return browsertest.Eval[[]string](b, `[...document.querySelectorAll('#lines tbody tr')].map(tr => tr.cells[4].innerText)`)
	}
	written := column()
	for i := 0; ; i++ {
		b.Press(kb.Tab)
		if browsertest.Eval[bool](b, `document.activeElement.innerText.startsWith('largest step')`) {
			break
		}
		if i > 40 {
			t.Fatal("the head of the table cannot be reached by the Tab key")
		}
	}
	b.Press(kb.Enter)
	up := column()
	if !strings.HasPrefix(up[0], "-") || !strings.HasPrefix(up[1], "+") || up[4] != "-" || slices.Equal(up, written) {
		t.Errorf("sorted by the step: %q", up)
	}
	b.Press(kb.Enter, kb.Enter)
	golden.Equal(t, "as written", written, column())
	browsertest.Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.Run(chromedp.EmulateViewport(1030, 700)) // A4 landscape within its margins
	b.Await(`document.querySelector('.chart canvas').clientWidth <= innerWidth`)
	if wider := b.Overflow(); wider > 0 {
		t.Errorf("the page is %d px wider than the paper", wider)
	}
	b.Look("history-print")
	if pdf := must.Get(chromedp.Call(b.Ctx, cdppage.PrintToPDF, cdppage.PrintToPDFParams{PreferCSSPageSize: new(true)}))(t); len(pdf.Data) < 20_000 {
		t.Errorf("a document of %d bytes", len(pdf.Data))
	}
}
