package page_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/view/page"
	"github.com/zkbench/zkbench/internal/workload"
)

// phrase names cases as the program does.
func phrase(name string, axes record.Axes) string {
	for _, d := range defs() {
		if d.Name == name {
			return d.Phrase(axes)
		}
	}
	return workload.Def{Name: name}.Phrase(axes)
}

// asked returns the data with the case that the page begins with.
func asked(d page.Data, workload, axes string) page.Data {
	d.Headline, d.Phrase = &record.Headline{Workload: workload, Axes: recordtest.Axes(axes)}, phrase
	return d
}

// TestSentence: the page begins with the case that was asked for, on the fewest processors, in words.
func TestSentence(t *testing.T) {
	d := sample(t)
	number := `[0-9.]+`
	for _, test := range []struct{ name, axes, want string }{
		{"Sender", "in=2/out=2/bits=64", `^A transfer with two inputs, two outputs and 64 bits takes ` + number + ` ms on one core \(P50; P99 ` + number + ` ms\): ` + number + ` per second\.$`},
		{"Sender", "in=2/exec=pool/cpus=4/workers=4", `^A transfer with two inputs and the executor pool takes ` + number + ` ms on four cores \(P50; P99 ` + number + ` ms\): ` + number + ` per second with four at a time\.$`},
		{"PlonkMul", "gates=8", `^One operation of PlonkMul with eight gates takes 24\.5 ms to prove and 32\.6 ms to verify on two cores\.$`},
		{"Sender", "workers=8/exec=pool", `^A transfer with the executor pool failed: operation 17: proof is not accepted\.$`},
		{"Sender", "workers=4/cpus=2/exec=pool", `^A transfer with the executor pool was stopped before its end: interrupted\.$`},
	} {
		if got := page.Sentence(asked(d, test.name, test.axes)); !regexp.MustCompile(test.want).MatchString(got) {
			t.Errorf("%s %s: %q, want %s", test.name, test.axes, got, test.want)
		}
	}
	golden.Contains(t, page.Sentence(asked(d, "Sender", "in=9")), "A transfer with ", " on one core") // no such case: the page chooses
	golden.Equal(t, "no records", "Nothing is measured yet.", page.Sentence(page.Data{}))
	later := asked(page.Data{Progress: &page.Progress{Planned: 3}}, "Sender", "in=2/exec=serial")
	golden.Equal(t, "a suite that has just begun", "A transfer with two inputs is not measured yet.", page.Sentence(later))
}

// TestFewInSentence: a percentile that rests on few operations is no part of the sentence.
func TestFewInSentence(t *testing.T) {
	one := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
	one.Counters[1].Value = 500
	if got := page.Sentence(page.Data{Records: []*record.Record{one}}); strings.Contains(got, "P99") || !strings.Contains(got, "(P50): ") {
		t.Errorf("the sentence is %q", got)
	}
}

// TestFirstPlot: the first plot shows the case among those that differ from it in one value, by what the data have
// several values of.
func TestFirstPlot(t *testing.T) {
	serial := func(bits, cpus int) *record.Record {
		return load{"Sender", "serial", bits, cpus, 1, 0, 20 * time.Millisecond}.record(t)
	}
	pool := load{"Sender", "pool", 8, 1, 1, 0, 20 * time.Millisecond}.record(t)
	for name, test := range map[string]struct {
		recs  []*record.Record
		kind  string
		cases []int // of each line
	}{
		"several CPUs":   {[]*record.Record{serial(8, 1), serial(8, 2), serial(16, 1), serial(16, 2), pool}, "cpus", []int{2, 2}},
		"several values": {[]*record.Record{serial(8, 1), serial(16, 1), serial(32, 1), pool}, "axis", []int{3}},
		"two values":     {[]*record.Record{serial(8, 1), serial(16, 1), pool, serial(16, 2)}, "cases", []int{3}},
		"one case":       {[]*record.Record{serial(8, 1)}, "percentiles", []int{1}},
		"one of stages":  {[]*record.Record{staged(8, 2, 0)}, "stages", []int{1}},
		"none that is ok": {[]*record.Record{func() *record.Record {
			r := serial(8, 1)
			r.Status = record.Failed
			return r
		}()}, "", nil},
	} {
		d := page.Data{Records: test.recs}
		if !test.recs[0].Staged() {
			d = asked(d, "Sender", "bits=8/exec=serial/cpus=1")
		}
		_, data := write(t, d)
		kind, cases := "", []int(nil)
		if p := data.Answer.Plot; p != nil {
			kind = p.Kind
			for _, l := range p.Lines {
				cases = append(cases, len(l.Cases))
			}
		}
		golden.Equal(t, name, fmt.Sprint(test.kind, test.cases), fmt.Sprint(kind, cases))
	}
}

// refusals returns a case that was measured, one that is too large and one that was refused.
func refusals(t *testing.T) page.Data {
	var all []*record.Record
	for i, err := range []error{
		nil, fmt.Errorf("set-up: %w", &zkbench.LimitError{What: "bytes of memory", Estimate: 9e9, Max: 8e9}),
		fmt.Errorf("%w: bits beside curve", zkbench.ErrParams), fmt.Errorf("operation 3: wrong"),
	} {
		r := load{"Sender", "serial", 8 << i, 1, 1, 0, 20 * time.Millisecond}.record(t)
		if err != nil {
			r.Status, r.Error, r.Metrics, r.Histograms, r.Series, r.Stages = record.Failed, err.Error(), nil, nil, nil, nil
		}
		if i == 1 || i == 2 {
			r.Findings = []record.Finding{{Name: record.Refused, Text: "nothing was measured: the request is not accepted"}}
		}
		all = append(all, r)
	}
	return page.Data{Records: all, Command: command, Settings: jobs.Words, Phrase: phrase}
}

// TestRefused: a case that was refused on purpose did not fail. It has its own status, count and value of the filter, and
// no colour of failures.
func TestRefused(t *testing.T) {
	_, data := write(t, refusals(t))
	var statuses []string
	for _, c := range data.Cases {
		statuses = append(statuses, c.Status)
	}
	golden.Equal(t, "statuses", []string{"ok", "too large", "refused", "failed"}, statuses)
	golden.Equal(t, "processes that failed", 1, data.Failed)
	golden.Equal(t, "sentence", "A transfer with 16 bits is too large for this machine: set-up: "+zkbench.ErrLimit.Error()+": bytes of memory: 9000000000, at most 8000000000 accepted.",
		page.Sentence(asked(refusals(t), "Sender", "bits=16")))

	b := newTab(t, 1280, 900)
	b.open(refusals(t), "")
	golden.Equal(t, "status", statuses, b.column("Status"))
	golden.Equal(t, "counts", "4 of 4 cases, 1 failed, 1 refused, 1 too large", eval[string](b, `document.getElementById('count').innerText`))
	facts := eval[[]string](b, `[...document.querySelectorAll('#facts div')].map(e => e.innerText.replace('\n', ' ') + (e.querySelector('.bad') ? ' red' : ''))`)
	golden.Equal(t, "facts", []string{"Cases 4", "Processes 4", "Failed cases 1 red", "Too large 1", "Refused 1", "Time 5 s"}, replaced(facts, "Time "))
	colours := eval[[]string](b, `[...document.querySelectorAll('#tbody .status')].map(e => getComputedStyle(e).color)`)
	if colours[1] != colours[2] || colours[1] == colours[3] {
		t.Errorf("colours of the statuses: %q", colours)
	}
	for query, rows := range map[string]int{"status=too-large": 1, "status=refused": 1, "status=failed": 1, "too-large": 1} {
		b.Set("query", query)
		golden.Equal(t, query, rows, eval[int](b, `document.querySelectorAll('#tbody tr[data-key]').length`))
	}
	groups := eval[[]string](b, `[...document.querySelectorAll('.finding')].map(e => e.querySelector('b').innerText + (e.classList.contains('bad') ? ' red' : ''))`)
	golden.Equal(t, "findings", []string{"failed red", "refused", "too large"}, groups)
}

// replaced returns texts, in which those with the prefix have an arbitrary rest.
func replaced(texts []string, prefix string) []string {
	texts = slices.Clone(texts)
	for i, text := range texts {
		if strings.HasPrefix(text, prefix) {
			texts[i] = prefix + "5 s"
		}
	}
	return texts
}

// TestExplained: a finding says what it means and what to do, in the words of zkbench help findings.
func TestExplained(t *testing.T) {
	one := load{"Sender", "pool", 32, 2, 2, 0, 20 * time.Millisecond}.record(t)
	one.Findings = []record.Finding{{Name: record.Disturbed, Text: "12 % went elsewhere"}, {Name: "own", Text: "of a workload"}, {Name: "solving", Text: "it does"}}
	b := newTab(t, 1280, 900)
	b.open(page.Data{Records: []*record.Record{one}}, "")
	shown := eval[[]string](b, `[...document.querySelectorAll('.finding')].map(e => [...e.querySelectorAll(':scope > p')].map(p => p.innerText).join(' '))`)
	golden.Equal(t, "findings", []string{
		"disturbed: Other processes or machines used the processors. What to do: Measure on a quiet machine.",
		"own",
		"solving: The library solves the constraints when it proves: the stage prove contains that. What to do: Nothing; this is for your information.",
	}, shown)
	for _, e := range record.Explanations() {
		if strings.HasSuffix(e.Meaning, ".") || strings.HasSuffix(e.Do, ".") {
			t.Errorf("%s ends with a full stop, which the page adds", e.Name)
		}
	}
}
