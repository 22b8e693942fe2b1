package study_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/workload"
)

func defs() []workload.Def {
	return []workload.Def{{Name: "Gates", Axes: []workload.Axis{
		{Key: "gates", Smoke: "1024"}, {Key: "system", Smoke: "plonk"}, {Key: record.StageKey, Smoke: "verify"},
	}}}
}

// job returns a planned case, which runs the stages or a load.
func job(t *testing.T, stages bool) suite.Case {
	t.Helper()
	p := study.Planner{Defs: defs()}
	p.Add(suite.Case{Side: "gates", Job: measure.Job{Stages: stages, Procs: 2, Settings: measure.Settings{Config: runner.Config{Seed: 1}}}}, "Gates", map[string]string{"gates": "64"})
	if len(p.Cases) != 1 || len(p.Missing) != 0 {
		t.Fatalf("%d jobs, missing %q", len(p.Cases), p.Missing)
	}
	return p.Cases[0]
}

// TestPlanner: axes that are not named are small, one through the stages has no axis of
// stages, and a workload that is not there is named once.
func TestPlanner(t *testing.T) {
	for stages, want := range map[bool]string{true: "gates=64/system=plonk/cpus=2", false: "gates=64/system=plonk/stage=verify"} {
		golden.Equal(t, fmt.Sprintf("stages=%v", stages), want, job(t, stages).Case.String())
	}
	p := study.Planner{Defs: defs()}
	for range 2 {
		p.Add(suite.Case{}, "Pairing", nil)
	}
	golden.Equal(t, "missing", []string{"Pairing"}, p.Missing)
	golden.Equal(t, "jobs", 0, len(p.Cases))
}

// TestCheckPortable: a record of the program without assembly whose arithmetic has assembly fails, and only such a one.
func TestCheckPortable(t *testing.T) {
	for _, test := range []struct {
		portable bool
		path     string
		status   record.Status
		want     record.Status
	}{
		{false, "avx512", record.OK, record.OK},
		{true, "portable", record.OK, record.OK},
		{true, "avx512", record.OK, record.Failed},
		{true, "avx512", record.Partial, record.Partial},
	} {
		c := job(t, true)
		if test.portable {
			c.Side = study.PortableSide(c.Side)
		}
		r := &record.Record{Status: test.status, Env: record.Env{Path: test.path}}
		study.CheckPortable(&c, r)
		golden.Equal(t, fmt.Sprintf("portable=%v/path=%s: status", test.portable, test.path), test.want, r.Status)
		golden.Equal(t, fmt.Sprintf("portable=%v/path=%s: failed by %q", test.portable, test.path, r.Error), test.want == record.Failed, strings.HasPrefix(r.Error, zkbench.ErrEnv.Error()))
	}
}

// TestHead: what is wrong with records is said, and a path that is what is compared is not
// wrong.
func TestHead(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	base := func() *record.Record {
		return &record.Record{
			Time: at, Workload: "Gates", Case: "gates=64", Status: record.OK, Process: record.Process{Side: "gates"},
			Env: record.Env{OS: "linux", Arch: "amd64", Path: "adx", Cores: 2, GOMAXPROCS: 1, Go: "go1.26.8", Commit: "0123456"},
		}
	}
	for name, test := range map[string]struct {
		change func(r *record.Record)
		want   []string
	}{
		"same":       {func(*record.Record) {}, nil},
		"processors": {func(r *record.Record) { r.Env.GOMAXPROCS = 2 }, nil},
		"portable":   {func(r *record.Record) { r.Env.Path, r.Process.Side = "portable", study.PortableSide("gates") }, nil},
		"path":       {func(r *record.Record) { r.Env.Path = "portable" }, []string{"1 of 2 records come from another environment than the first"}},
		"build":      {func(r *record.Record) { r.Env.Commit = "7654321" }, []string{"1 of 2 records come from another build than the first"}},
		"failed":     {func(r *record.Record) { r.Status, r.Error = record.Failed, "on purpose" }, []string{"Gates/gates=64 (gates, round 1) failed: on purpose"}},
	} {
		other := base()
		test.change(other)
		h := study.NewHead([]*record.Record{base(), other})
		golden.Equal(t, name+": notes", test.want, h.Notes)
		want := "Measured on unknown processor, linux/amd64, adx arithmetic, 2 processors; go1.26.8, commit 0123456; 2026-11-20; 2 processes.\n"
		for i, n := range test.want {
			want += fmt.Sprintf("%s- %s\n", strings.Repeat("\n", 1-min(i, 1)), n)
		}
		golden.Equal(t, name, want, h.String())
	}
	hostile := base()
	hostile.Status, hostile.Env.CPU, hostile.Error = record.Failed, "<b>\n# owned", "<img src=x>\n# owned"
	for line := range strings.Lines(study.NewHead([]*record.Record{hostile}).String()) {
		if strings.Contains(line, "<") || strings.HasPrefix(line, "#") {
			t.Errorf("a text of a record is taken for Markdown: %q", line)
		}
	}
	golden.Equal(t, "of no records", "Nothing was measured.\n", study.NewHead(nil).String())
}

func TestTable(t *testing.T) {
	table := study.Table{Left: 1, Head: []string{"what", "time"}}
	golden.Equal(t, "a table without rows", "", table.String())
	table.Add("a|<b>\n#", study.Time(1500))
	golden.Equal(t, "a table", "| what | time |\n|---|---:|\n| a\\|&lt;b> # | 1.500 us |\n", table.String())
	for v, want := range map[float64]string{0: study.None, -1: study.None, 2: "2", 1.234: "1.23", 12.34: "12.3", 123.4: "123"} {
		golden.Equal(t, fmt.Sprint(v), want, study.Number(v))
	}
}
