// Package studytest checks rules that hold for the plans and pages of all studies.
package studytest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// Plan checks the plan that the study s makes with the options o, and returns the cases of this plan. The
// workload of every case must accept the case. No case may be planned twice in a round, except cases of
// the workload that the parameter often names. A quick plan must have fewer than half as many cases as
// this plan. If workloads are missing in defs, a plan must name them.
func Plan(t testing.TB, s study.Study, defs []workload.Def, o study.Options, often string) []suite.Case {
	t.Helper()
	jobs, missing := s.Plan(defs, o)
	if len(missing) > 0 {
		t.Errorf("%s: missing workloads: %q", s.Name, missing)
	}
	seen := make(map[string]bool)
	for _, j := range jobs {
		name := fmt.Sprintf("%s, round %d: %s/%s on %d", j.Side, j.Repetition, j.Workload, j.Case, j.Procs)
		def := must.Get(workload.Find(defs, j.Workload))(t)
		for _, a := range def.Axes {
			if j.Stages && a.Key == record.StageKey {
				continue
			}
			if j.Case.Get(a.Key) == "" && a.Depends != "" {
				continue // another axis determines it
			}
			if values, err := a.Parse(j.Case.Get(a.Key)); err != nil || len(values) != 1 {
				t.Errorf("%s: %s: %q, %v", name, a.Key, values, err)
			}
		}
		if err := j.Settings.Validate(); !j.Stages && err != nil || j.Stages && def.Stages == nil {
			t.Errorf("%s: %v, or it has no stages", name, err)
		}
		if seen[name] && j.Workload != often {
			t.Errorf("%s is planned twice", name)
		}
		seen[name] = true
		if j.Expected <= 0 || j.Deadline < j.Expected {
			t.Errorf("%s takes %v, its deadline is %v", name, j.Expected, j.Deadline)
		}
	}
	quick := o
	quick.Quick, quick.Rounds = true, 1
	if less, _ := s.Plan(defs, quick); len(less) == 0 || len(less) >= len(jobs)/2 {
		t.Errorf("%s: %d quick jobs of %d", s.Name, len(less), len(jobs))
	}
	if none, missing := s.Plan(nil, o); len(none) > 0 || len(missing) == 0 {
		t.Errorf("%s: %d jobs without workloads, missing %q", s.Name, len(none), missing)
	}
	if _, missing := s.Plan(nil, study.Options{}); len(missing) > 0 {
		t.Errorf("%s: nothing planned, missing %q", s.Name, missing)
	}
	return jobs
}

// Record returns a record of case j, which has index i in a plan, as if the case had run on a machine with
// AVX-512 and two processors. The record has no metrics.
func Record(i int, j suite.Case) *record.Record {
	c := j.Case
	if !j.Stages {
		c = j.Settings.Named(c)
	}
	return &record.Record{
		Time: time.Date(2026, 11, 20, 12, 0, i, 0, time.UTC), Workload: j.Workload, Case: c.String(), Axes: c.Axes(), Status: record.OK,
		Env: record.Env{OS: "linux", Arch: "amd64", CPU: "Some Processor", Path: "avx512", Cores: 2, GOMAXPROCS: j.Procs, Go: "go1.26.8", Commit: "0123456"},
	}
}

// Keep sets the record's Process as a study does when it measures case c. The name of the session is "session".
// Keep also applies study.CheckPortable.
func Keep(rec *record.Record, c suite.Case) {
	rec.Process = record.Process{Session: "session", Side: c.Side, Index: c.Repetition}
	study.CheckPortable(&c, rec)
}

// IncompletePages checks pages of incomplete results. The page for no records must say that nothing was
// measured, and must not have the given image. The page for the records of one part of the study must name the
// other parts as not measured.
func IncompletePages(t testing.TB, s study.Study, all []*record.Record, image string) {
	t.Helper()
	if text := Page(t, s, nil); !strings.Contains(text, "Nothing was measured.") || strings.Contains(text, image) {
		t.Errorf("%s: the page of nothing:\n%s", s.Name, text)
	}
	for _, part := range s.PartNames() {
		ofPart := slices.DeleteFunc(slices.Clone(all), func(r *record.Record) bool { return r.Process.Side != part })
		var missing string
		for line := range strings.Lines(Page(t, s, ofPart)) {
			if names, ok := strings.CutPrefix(line, "- not measured: "); ok {
				missing += names
			}
		}
		for _, other := range s.PartNames() {
			if strings.Contains(missing, other) != (other != part) {
				t.Errorf("%s: part %s alone: %s is wrongly listed, or not listed, as not measured: %s", s.Name, part, other, missing)
			}
		}
	}
}

// Page returns the study's page for the given records.
func Page(t testing.TB, s study.Study, recs []*record.Record) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, s.Page(&b, recs))
	return b.String()
}

// Golden compares the page for the records with the golden file of the package under test.
func Golden(t testing.TB, s study.Study, recs []*record.Record) {
	t.Helper()
	golden.File(t, filepath.Join("testdata", s.File()+".golden"), Page(t, s, recs))
}

// Images checks that the page shows every chart once and has no other images. It returns the number of charts.
func Images(t testing.TB, s study.Study, recs []*record.Record) int {
	t.Helper()
	text := Page(t, s, recs)
	charts := must.Get(s.Charts(recs))(t)
	for _, c := range charts {
		if strings.Count(text, "]("+c.File+")") != 1 {
			t.Errorf("%s is not shown once", c.File)
		}
		var svg bytes.Buffer
		if err := c.Write(&svg); err != nil || !strings.Contains(svg.String(), c.Title) {
			t.Errorf("%s: %d bytes, %v", c.File, svg.Len(), err)
		}
	}
	if n := strings.Count(text, "!["); n != len(charts) {
		t.Errorf("%d images, %d charts", n, len(charts))
	}
	return len(charts)
}

// Row returns the cells of the first table row in text that has each of the given cells.
func Row(t testing.TB, text string, has ...string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		found := strings.HasPrefix(line, "| ")
		for _, h := range has {
			found = found && strings.Contains(line, "| "+h+" |")
		}
		if found {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			return cells
		}
	}
	t.Fatalf("no row with %q in\n%s", has, text)
	return nil
}
