package suite_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/input/yamlfile"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

const good = `# A comment.
name: quick
about: what it is for
repetitions: 3
cases:
  - run: sender, validator-transfer
    num-inputs: 2
    bits: [32, 64]
    cpus: 1,2
  - stages: [pedersen]
    hashes: 8
`

func TestRead(t *testing.T) {
	f := must.Get(suite.Read("quick.yaml", strings.NewReader(good)))(t)
	words := func(line int, all ...string) (w []yamlfile.Word) {
		for _, text := range all {
			w = append(w, yamlfile.Word{Text: text, Line: line})
		}
		return w
	}
	want := &suite.File{Name: "quick", About: "what it is for", Repetitions: 3, Entries: []suite.Entry{
		{Command: "run", Workloads: words(6, "sender", "validator-transfer"), Line: 6, Flags: []suite.Flag{
			{Name: "num-inputs", Values: words(7, "2"), Line: 7}, {Name: "bits", Values: words(8, "32", "64"), Line: 8}, {Name: "cpus", Values: words(9, "1", "2"), Line: 9},
		}},
		{Command: "stages", Workloads: words(10, "pedersen"), Line: 10, Flags: []suite.Flag{{Name: "hashes", Values: words(11, "8"), Line: 11}}},
	}}
	golden.Equal(t, "file", want, f, cmpopts.IgnoreUnexported(suite.File{}))
}

// TestMistakes: all that is wrong is listed at once, each with its line.
func TestMistakes(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "x:1: the file is empty; accepted: name, about, headline, repetitions, provers, cases"},
		{"no cases", "name: a\n", "x:1: cases: none; accepted: one or more"},
		{"syntax", "name: a\ncases: [\n", "x:"},
		{"a list", "- a\n", "x:1: suite is not a list of keys and values"},
		{
			"several", "name: a\nrepetitions: 0\ntimes: 3\ncases:\n  - bits: 32\n  - run: sender\n    stages: keccak\n    bits: 32\n    bits: 64\n  - 7\n",
			"x:2: repetitions: \"0\" is not accepted; accepted: 1 to 1000\n" +
				"x:3: \"times\" is not accepted; accepted: name, about, headline, repetitions, provers, cases\n" +
				"x:5: a case names no workloads; accepted: run or stages with their names\n" +
				"x:7: stages beside run; accepted: one of them\n" +
				"x:9: case: \"bits\" occurs twice\n" +
				"x:10: case is not a list of keys and values",
		},
		{"two", "cases:\n  - run: sender\n---\ncases:\n  - run: sender\n", "x:3: a second document; accepted: one suite per file"},
		{"none named", "cases:\n  - run:\n  - stages: []\n", "x:2: run: no workloads; accepted: their names\nx:3: stages: no workloads; accepted: their names"},
		{"a name of two lines", "name: \"a\\nb\"\ncases:\n  - run: sender\n", "x:1: name: \"a\\nb\" is not accepted; accepted: printable characters, on one line"},
		{"a list of lists", "cases:\n  - run: sender\n    bits: [[1]]\n", "x:3: bits: a list within a list"},
	} {
		f, err := suite.Read("x", strings.NewReader(test.text))
		if err == nil {
			_, err = suite.Expand("x", f, func(suite.Entry) ([]int, error) { return nil, nil })
		}
		if _, ok := errors.AsType[*yamlfile.Error](err); !ok || !errors.Is(err, zkbench.ErrParams) {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := err.Error(); got != test.want && (test.name != "syntax" || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
	must.FailGet(suite.Read("x", strings.NewReader(strings.Repeat("#", 2<<20))))(t, zkbench.ErrLimit, "two megabytes")
}

// TestExpand: every flag that is wrong is told, though expanding stops at the first.
func TestExpand(t *testing.T) {
	f := must.Get(suite.Read("quick.yaml", strings.NewReader(good)))(t)
	bad := map[string]bool{"2": true, "64": true, "8": true}
	_, err := suite.Expand("quick.yaml", f, func(e suite.Entry) ([]int, error) {
		for _, flag := range e.Flags {
			for _, w := range flag.Values {
				if bad[w.Text] {
					return nil, fmt.Errorf("entry: %w", &argument.ValueError{Field: strings.ReplaceAll(flag.Name, "-", "_"), Value: w.Text, Accepted: "others"})
				}
			}
		}
		if e.Command == "stages" {
			return nil, errors.New("no such workload")
		}
		return []int{1}, nil
	})
	want := "quick.yaml:7: entry: num_inputs: \"2\" is not accepted; accepted: others\n" +
		"quick.yaml:8: entry: bits: \"64\" is not accepted; accepted: others\n" +
		"quick.yaml:9: entry: cpus: \"2\" is not accepted; accepted: others\n" +
		"quick.yaml:10: no such workload\n" +
		"quick.yaml:11: entry: hashes: \"8\" is not accepted; accepted: others"
	golden.Equal(t, "mistakes", want, fmt.Sprint(err))
	all := must.Get(suite.Expand("quick.yaml", f, func(e suite.Entry) ([]string, error) { return e.IDs(), nil }))(t)
	golden.Equal(t, "workloads", []string{"sender", "validator-transfer", "pedersen"}, all)
}

// TestHeadline: the case that a report begins with is one of the suite, or the file has a mistake. A case that this
// machine has too few processors for is left out without a mistake.
func TestHeadline(t *testing.T) {
	axes := []workload.Axis{workload.BitsAxis(), workload.InputsAxis(3), workload.ExecutorAxis([]string{"serial", "pool"})}
	defs := []workload.Def{{Name: "Some", Axes: axes}, {Name: "Other", Axes: axes}}
	const cases = "cases:\n  - run: some\n    bits: [8, 16]\n    cpus: 1\n  - run: some\n    bits: 8\n    executor: pool\n    cpus: 2\n"
	for _, test := range []struct {
		headline string
		want     string // the choice, or the mistake
	}{
		{"some", "some"},
		{"Some bits=16", "some bits=16"},
		{"some num-inputs=2 num_inputs=2 workers=1", "some in=2 in=2 workers=1"},
		{"some exec=pool", ""},
		{"some cpus=2", ""},
		{"some bits=9", `x:1: headline: "bits=9" is not accepted; accepted: bits of the suite's cases: 8, 16`},
		{"some bits=16 exec=pool", `x:1: headline: "exec=pool" is not accepted; accepted: exec of the suite's cases: serial`},
		{"some width=9", `x:1: headline: "width=9" is not accepted; accepted: axes of some: bits, in, exec, cpus, workers`},
		{"some bits", `x:1: headline: "bits" is not accepted; accepted: a workload of the suite and values of its axes, for example sender in=2 out=2`},
		{"other", `x:1: headline: "other" is not accepted; accepted: a workload of the suite and values of its axes, for example sender in=2 out=2`},
		{"nobody", `x:1: workload: "nobody" is not accepted; `},
	} {
		file := must.Get(suite.Read("x", strings.NewReader("headline: "+test.headline+"\n"+cases)))(t)
		p, err := suite.NewPlan(defs, file, "x", 1, suite.Options{})
		if err != nil {
			if _, ok := errors.AsType[*yamlfile.Error](err); !ok || test.want == "" || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s: %v, want %s", test.headline, err, test.want)
			}
			continue
		}
		got := ""
		if p.Header.Headline != nil {
			got = p.Header.Headline.String()
		}
		golden.Equal(t, test.headline, test.want, got)
	}
	file := must.Get(suite.Read("x", strings.NewReader("headline: some bits\ncases:\n  - run: some\n    bits: 99\n")))(t)
	_, err := suite.NewPlan(defs, file, "x", 1, suite.Options{})
	golden.Contains(t, fmt.Sprint(err), `x:1: headline: "bits" is not accepted`, `x:4: some: bits: "99" is not accepted`)
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("cases:\n- run: &a [x]\n  bits: *a\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := suite.Read("x", strings.NewReader(string(raw)))
		if (file == nil) == (err == nil) {
			t.Errorf("%v, %v", file, err)
		}
		if err != nil {
			return
		}
		if _, err := suite.Expand("x", file, func(suite.Entry) ([]int, error) { return nil, nil }); err == nil && (len(file.Entries) == 0 || file.Repetitions < 1) {
			t.Errorf("accepted: %+v", file)
		}
	})
}

// TestSameCaseTwice: a case that comes twice is planned once, and told where its settings
// differ. Two open loops of the same rate are the same.
func TestSameCaseTwice(t *testing.T) {
	defs := []workload.Def{{Name: "Some", Axes: []workload.Axis{workload.BitsAxis()}}}
	for name, c := range map[string]struct {
		second string
		notes  []string
	}{
		"the same":      {"rate: 100", nil},
		"another queue": {"rate: 100\n    queue: 9", []string{"1 case left out: the same case with other settings comes before"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := must.Get(suite.Read("x", strings.NewReader("cases:\n  - run: some\n    bits: 8\n    rate: 100\n  - run: some\n    bits: 8\n    "+c.second+"\n")))(t)
			p := must.Get(suite.NewPlan(defs, file, "x", 2, suite.Options{}))(t)
			golden.Equal(t, "cases", 1, len(p.Header.Plan))
			golden.Equal(t, "notes", c.notes, p.Notes)
		})
	}
}

// TestEstimate: before anything was measured what is expected counts; then a case takes as
// long as it took, and others as much longer than expected as those that were measured.
func TestEstimate(t *testing.T) {
	all := suite.Interleave(cases(3), 2)
	for i := range all {
		all[i].Expected = 10 * time.Second
	}
	e := suite.NewEstimate(all)
	golden.Equal(t, "remaining before", time.Minute, e.Remaining())
	e.Took(0, 30*time.Second)
	for i, want := range []time.Duration{30 * time.Second, 30 * time.Second, 30 * time.Second} {
		golden.Equal(t, fmt.Sprintf("case %d", i), want, e.CaseTime(&all[i]))
	}
	e.Took(1, 10*time.Second) // 40 s of the 20 expected
	golden.Equal(t, "remaining after two", (20+30+10+20)*time.Second, e.Remaining())
	for i := range all[2:] {
		e.Took(2+i, time.Second)
	}
	golden.Equal(t, "remaining at the end", 0, e.Remaining())
}
