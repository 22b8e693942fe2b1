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
	"github.com/zkbench/zkbench/internal/testing/recordtest"
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
	later := base()
	later.Time = at.Add(48 * time.Hour)
	golden.Contains(t, study.NewHead([]*record.Record{later, base()}).String(), "; 2026-11-20 to 2026-11-22; 2 processes.")
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
	golden.Equal(t, "a table", "| what | time (us) |\n|---|---:|\n| a\\|&lt;b> # | 1.500 |\n", table.String())
	for v, want := range map[float64]string{0: study.None, -1: study.None, 2: "2", 1.234: "1.23", 12.34: "12.3", 123.4: "123"} {
		golden.Equal(t, fmt.Sprint(v), want, study.Number(v))
	}
}

// TestTableUnits: a column of times, or of sizes, has one unit, in its head; the digits of its figures stay as many, and
// the table's own cells stay as they are. A column with anything else keeps its cells.
func TestTableUnits(t *testing.T) {
	for name, test := range map[string]struct {
		cells []string
		head  string
		want  []string
	}{
		"times":          {[]string{"743.7 us", "4.060 ms", "1.591 s", study.None}, "x (ms)", []string{"0.7437", "4.060", "1,591", study.None}},
		"sizes":          {[]string{"57.9 MB", "1.26 GB", "1,049 GB"}, "x (GB)", []string{"0.0579", "1.26", "1,049"}},
		"estimates":      {[]string{"16.00 s", "*≈ 1044.3 s*"}, "x (s)", []string{"16.00", "*≈ 1,044.3*"}},
		"deviations":     {[]string{"0.305 ns ± 28.8 %", "1.464 us ± 0.9 %"}, "x (ns)", []string{"0.305 ± 28.8 %", "1,464 ± 0.9 %"}},
		"footnotes":      {[]string{"2.2 s[^a]", "30.70 ms*"}, "x (ms)", []string{"2,200[^a]", "30.70*"}},
		"ranges":         {[]string{"2.383 ns to 2.401 us", "−9.738 ns"}, "x (ns)", []string{"2.383 to 2,401", "−9.738"}},
		"nothing":        {[]string{study.None, ""}, "x", []string{study.None, ""}},
		"two quantities": {[]string{"1 s", "1 MB"}, "x", []string{"1 s", "1 MB"}},
		"words":          {[]string{"1 s", "about 1 s"}, "x", []string{"1 s", "about 1 s"}},
		"numbers":        {[]string{"1 s", "12"}, "x", []string{"1 s", "12"}},
		"too far apart":  {[]string{"403.5 ns", "9.738 s"}, "x", []string{"403.5 ns", "9.738 s"}},
		"other times":    {[]string{"~4 hr 57 min", "~21 sec"}, "x", []string{"~4 hr 57 min", "~21 sec"}},
	} {
		table := study.Table{Head: []string{"x"}}
		want := "| " + test.head + " |\n|---:|\n"
		for i, c := range test.cells {
			table.Add(c)
			want += "| " + test.want[i] + " |\n"
		}
		golden.Equal(t, name, want, table.String())
		golden.Equal(t, name+": once more", want, table.String())
	}
}

// TestTableTogether: columns that are compared have one unit, unless one of them has none.
func TestTableTogether(t *testing.T) {
	table := study.Table{Left: 1, Together: []int{1, 2}, Head: []string{"what", "ours", "theirs", "else"}}
	table.Add("prove", "600.0 us", "30.70 ms*", "2 s")
	table.Add("verify", "60.00 us", study.None, study.None)
	golden.Equal(t, "one unit", "| what | ours (ms) | theirs (ms) | else (s) |\n|---|---:|---:|---:|\n| prove | 0.6000 | 30.70* | 2 |\n| verify | 0.06000 | – | – |\n", table.String())
	table.Add("count", "600.0 us", "12", "3 s")
	golden.Equal(t, "a column without a unit", "| what | ours (us) | theirs | else (s) |", strings.SplitN(table.String(), "\n", 2)[0])
}

// TestWorse: only figures with both sides count, and those that are worse are named with both.
func TestWorse(t *testing.T) {
	all := []study.Beside{
		{What: "keys", Ours: 1.5, Theirs: 0.5},
		{What: "prove", Ours: 1, Theirs: 1},
		{What: "verify", Ours: 1},
		{What: "build", Theirs: 1},
		{What: "rows", Ours: 3, Theirs: 2, Text: study.Number},
	}
	golden.Equal(t, "two", "We are slower in 2 of 3 figures: keys (1.500 s, the study 500.0 ms); rows (3, the study 2).", study.Worse("We are slower", "the study", all))
	golden.Equal(t, "none", "We are slower in none of 1 figure.", study.Worse("We are slower", "the study", all[1:2]))
	golden.Equal(t, "nothing to compare", "", study.Worse("We are slower", "the study", all[2:4]))
	golden.Equal(t, "an answer", "A. B.\n\nC.\n", study.Answer{Sentences: []string{"", "A.", "", "B."}, Worse: []string{"C."}}.String())
	golden.Equal(t, "no answer", "", study.Answer{Sentences: []string{""}}.String())
}

// TestTooLarge: the head has the number and the sizes of cases that are too large, and the end of the page their names.
func TestTooLarge(t *testing.T) {
	var recs []*record.Record
	for _, axes := range []string{"gates=1024/system=plonk", "gates=16777216/system=plonk", "gates=16777216/system=turbo", "gates=33554432/system=plonk"} {
		r := &record.Record{Workload: "Gates", Case: axes, Axes: recordtest.Axes(axes), Status: record.OK, Process: record.Process{Side: "gates"}}
		if axes != "gates=1024/system=plonk" {
			r.Status, r.Error = record.Failed, (&zkbench.LimitError{What: "bytes of memory", Estimate: 2, Max: 1}).Error()
		}
		recs = append(recs, r)
	}
	h := study.NewHead(recs)
	golden.Equal(t, "notes", []string{"part gates: too large to run: 3 cases (gates 16,777,216; 33,554,432)"}, h.Notes)
	golden.Equal(t, "the end of the page", "\n## Cases that did not run\n\n- part gates: these cases are too large for this machine and did not run: "+
		"Gates/gates=16777216/system=plonk, Gates/gates=16777216/system=turbo, Gates/gates=33554432/system=plonk\n", h.Missing())
	golden.Equal(t, "the end of a page whose cases ran", "", study.NewHead(recs[:1]).Missing())
	recs[1].Findings = []record.Finding{{Name: record.Disturbed, Text: "others"}}
	golden.Equal(t, "notes", "1 of 4 processes were disturbed: others", study.NewHead(recs).Notes[1])
}
