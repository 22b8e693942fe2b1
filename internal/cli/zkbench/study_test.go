package zkbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/token"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/view/outdir"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestStudyEnds: whatever ends a study, or a case of it, what was measured is among
// the records and on the page.
func TestStudyEnds(t *testing.T) {
	for name, test := range map[string]struct {
		status record.Status // of the third case
		stop   bool          // after it
		code   int
		notes  []string
		rest   bool // the other cases are measured
	}{
		"failed":      {record.Failed, false, cli.ExitFailed, []string{"(panurus, round 1) failed: on purpose"}, true},
		"partial":     {record.Partial, false, cli.ExitPartial, []string{"(panurus, round 1) partial: on purpose"}, true},
		"interrupted": {record.Partial, true, cli.ExitPartial, []string{"(panurus, round 1) partial: on purpose", "3 processes"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			n := 0
			run := func(_ context.Context, job study.Job) *record.Record {
				rec := job.Settings.New(job.Workload, job.Case)
				rec.Metrics = []record.Metric{record.LatencyMean.Metric(1e6)}
				if n++; n == 3 {
					rec.Status, rec.Error = test.status, "on purpose"
					if test.stop {
						stop()
					}
				}
				return rec
			}
			dir := t.TempDir()
			var stdout, stderr strings.Builder
			s := token.Study()
			r := study.Run{
				Study: &s, Options: study.Options{Parts: s.PartNames(), Rounds: 1, Workers: 1, Quick: true},
				Dir: dir, Defs: slices.Concat(clitest.Defs(), s.Defs), Do: run,
			}
			golden.Equal(t, "exit code", test.code, cli.CodeOf(runStudy(ctx, &r, &stdout, &stderr)))
			golden.Equal(t, "records", n, len(recordtest.ReadFile(t, filepath.Join(dir, outdir.RecordsFile))))
			golden.Equal(t, "the other cases are measured", test.rest, n > 3)
			golden.Contains(t, string(must.Get(os.ReadFile(filepath.Join(dir, s.File())))(t)), test.notes...)
		})
	}
}

// TestKeptRecords: the records in the repository give the pages and charts of their studies.
func TestKeptRecords(t *testing.T) {
	pages := filepath.Join("..", "..", "..", "docs", "studies")
	kept := must.Get(filepath.Glob(filepath.Join(pages, "records", "*")))(t)
	if len(kept) < 2 {
		t.Errorf("records of %d studies only", len(kept))
	}
	for _, from := range kept {
		name := filepath.Base(from)
		t.Run(name, func(t *testing.T) {
			dir, file := t.TempDir(), outdir.RecordsFile+record.Packed
			must.Do(t, os.WriteFile(filepath.Join(dir, file), must.Get(os.ReadFile(filepath.Join(from, file)))(t), 0o600))
			code, _, stderr := call("study", name, "--from", dir)
			golden.Equal(t, "exit code", cli.ExitOK, code)
			golden.Equal(t, "messages", "", stderr)
			for _, view := range append(must.Get(filepath.Glob(filepath.Join(dir, "*.svg")))(t), filepath.Join(dir, name+".md")) {
				kept := string(must.Get(os.ReadFile(filepath.Join(pages, filepath.Base(view))))(t))
				golden.Equal(t, filepath.Base(view), kept, string(must.Get(os.ReadFile(view))(t)))
			}
		})
	}
}

// circuitDefs have the names and axes of circuits whose workloads the scripts lack.
func circuitDefs() []workload.Def {
	return []workload.Def{{Name: "Gates", Axes: []workload.Axis{{Key: "gates", Smoke: "1024"}, {Key: "system", Smoke: "plonk"}}}}
}

func plonkStudy(t *testing.T) *study.Study {
	t.Helper()
	for _, s := range studies() {
		if s.Name == "plonk" {
			return &s
		}
	}
	t.Fatal("no study plonk")
	return nil
}

// TestStudyTooLarge: a case that the memory is too small for fails a study only where the
// plan does not expect it.
func TestStudyTooLarge(t *testing.T) {
	for expected, code := range map[bool]int{true: cli.ExitOK, false: cli.ExitFailed} {
		run := func(_ context.Context, job study.Job) *record.Record {
			rec := job.Settings.New(job.Workload, job.Case)
			if job.Optional == expected {
				rec.Status = record.Failed
				rec.Error = (&zkbench.LimitError{What: "bytes of memory", Estimate: 2, Max: 1}).Error()
			}
			return rec
		}
		r := study.Run{Study: plonkStudy(t), Options: study.Options{Parts: []string{"gates"}}, Dir: t.TempDir(), Defs: circuitDefs(), Do: run}
		var stdout, stderr strings.Builder
		got := cli.CodeOf(runStudy(t.Context(), &r, &stdout, &stderr))
		golden.Equal(t, fmt.Sprintf("expected=%v: exit code", expected), code, got)
		golden.Contains(t, stdout.String(), " for what needs much memory\n")
	}
}

// TestStudyResumes: what a run before has measured to its end is taken over, and nothing
// else.
func TestStudyResumes(t *testing.T) {
	var ran []string
	run := func(_ context.Context, job study.Job) *record.Record {
		rec := record.New()
		rec.Workload, rec.Case, rec.Axes, rec.Seed = job.Workload, job.Case.String(), job.Case.Axes(), job.Settings.Seed
		if ran = append(ran, rec.Case); len(ran) == 2 {
			rec.Status, rec.Error = record.Failed, "on purpose"
		}
		return rec
	}
	var stdout, stderr strings.Builder
	first := study.Run{Study: plonkStudy(t), Options: study.Options{Parts: []string{"gates"}}, Dir: t.TempDir(), Defs: circuitDefs(), Do: run}
	must.Fail(t, runStudy(t.Context(), &first, &stdout, &stderr), must.ErrAny, "a run with a failed case")
	earlier := must.Get(first.Study.Read("resume", first.Dir))(t)
	failed, n := ran[1], len(ran)
	ran = nil
	second := first
	second.Dir, second.Earlier = t.TempDir(), earlier
	second.Do = func(_ context.Context, job study.Job) *record.Record {
		ran = append(ran, job.Case.String())
		return job.Settings.New(job.Workload, job.Case)
	}
	must.Do(t, runStudy(t.Context(), &second, &stdout, &stderr))
	golden.Equal(t, "measured again", []string{failed}, ran)
	golden.Equal(t, "records", n, len(must.Get(second.Study.Read("resume", second.Dir))(t)))
}
