package zkbench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/measure/suite"
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
		"partial":     {record.Partial, false, cli.ExitFailed, []string{"(panurus, round 1) partial: on purpose"}, true},
		"interrupted": {record.Partial, true, cli.ExitPartial, []string{"2 processes"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			n := 0
			run := func(_ context.Context, c *suite.Case) (*record.Record, error) {
				rec := c.Settings.New(c.Workload, c.Case)
				rec.Metrics = []record.Metric{record.LatencyMean.Metric(1e6)}
				if n++; n == 3 {
					rec.Status, rec.Error = test.status, "on purpose"
					if test.stop {
						stop()
					}
				}
				return rec, nil
			}
			s := token.Study()
			dir := t.TempDir()
			o := study.Options{Parts: s.PartNames(), Rounds: 1, Workers: 1, Quick: true}
			session := must.Get(s.Begin(dir, slices.Concat(clitest.Defs(), s.Defs), o, io.Discard))(t)
			golden.Equal(t, "exit code", test.code, cli.CodeOf(measureStudy(studyCall(ctx), &s, session, run, io.Discard, io.Discard)))
			kept := n
			if test.stop {
				kept-- // the case that ran is measured again
			}
			golden.Equal(t, "records", kept, len(recordtest.ReadFile(t, filepath.Join(dir, outdir.RecordsFile))))
			golden.Equal(t, "the other cases are measured", test.rest, n > 3)
			golden.Contains(t, string(must.Get(os.ReadFile(filepath.Join(dir, s.File())))(t)), test.notes...)
		})
	}
}

// studyCall returns a command whose context ends with ctx.
func studyCall(ctx context.Context) *cobra.Command {
	cmd := &cobra.Command{Use: "study"}
	cmd.SetContext(ctx)
	return cmd
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

// circuitDefs returns workloads with the names and axes of circuits, which the scripts do not have.
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

// TestStudyTooLarge: a case that the memory is too small for fails a study only if the
// plan does not expect it.
func TestStudyTooLarge(t *testing.T) {
	for expected, code := range map[bool]int{true: cli.ExitOK, false: cli.ExitFailed} {
		run := func(_ context.Context, c *suite.Case) (*record.Record, error) {
			rec := c.Settings.New(c.Workload, c.Case)
			if c.Optional == expected {
				rec.Status = record.Failed
				rec.Error = (&zkbench.LimitError{What: "bytes of memory", Estimate: 2, Max: 1}).Error()
			}
			return rec, nil
		}
		var stdout strings.Builder
		s := plonkStudy(t)
		session := must.Get(s.Begin(t.TempDir(), circuitDefs(), study.Options{Parts: []string{"gates"}}, &stdout))(t)
		got := cli.CodeOf(measureStudy(studyCall(t.Context()), s, session, run, &stdout, io.Discard))
		golden.Equal(t, fmt.Sprintf("expected=%v: exit code", expected), code, got)
		golden.Contains(t, stdout.String(), " for cases that need much memory\n")
	}
}

// TestStudyResumes: a study that was stopped continues in its directory. It measures cases that have no record, or that failed.
func TestStudyResumes(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var ran []string
	run := func(_ context.Context, c *suite.Case) (*record.Record, error) {
		rec := c.Settings.New(c.Workload, c.Case)
		switch ran = append(ran, c.Key()); len(ran) {
		case 1:
			rec.Status, rec.Error = record.Failed, "on purpose"
		case 2:
			stop()
			return nil, context.Canceled
		}
		return rec, nil
	}
	s, dir := plonkStudy(t), t.TempDir()
	session := must.Get(s.Begin(dir, circuitDefs(), study.Options{Parts: []string{"gates"}}, io.Discard))(t)
	n := len(session.Plan())
	err := measureStudy(studyCall(ctx), s, session, run, io.Discard, io.Discard)
	golden.Equal(t, "exit code", cli.ExitPartial, cli.CodeOf(err))
	golden.Contains(t, err.Error(), "study --resume ")
	golden.Equal(t, "processes of the first run", 2, len(ran))

	must.Do(t, measureStudy(studyCall(t.Context()), s, must.Get(s.Resume(dir, ""))(t), run, io.Discard, io.Discard))
	golden.Equal(t, "processes of both runs", n+2, len(ran))
	golden.Equal(t, "records", n, len(must.Get(s.Read("from", dir))(t)))

	must.FailGet(suite.Resume(dir, ""))(t, must.ErrAny, "a study's directory, of suite")
	for _, other := range studies() {
		if other.Name != s.Name && other.Resumes {
			_, err := other.Resume(dir, "")
			must.Fail(t, err, must.ErrAny, "the directory of another study")
		}
	}
}

// TestStudyAgain: a case that others disturbed is measured once more if that is asked for, and a case that failed is not
// tried again without it.
func TestStudyAgain(t *testing.T) {
	for _, again := range []bool{false, true} {
		var ran []string
		run := func(_ context.Context, c *suite.Case) (*record.Record, error) {
			rec := c.Settings.New(c.Workload, c.Case)
			if ran = append(ran, c.Key()); len(ran) == 1 {
				rec.Findings = []record.Finding{{Name: record.Disturbed, Text: "others"}}
			}
			return rec, nil
		}
		s, dir := plonkStudy(t), t.TempDir()
		session := must.Get(s.Begin(dir, circuitDefs(), study.Options{Parts: []string{"gates"}, Again: again}, io.Discard))(t)
		n := len(session.Plan())
		must.Do(t, measureStudy(studyCall(t.Context()), s, session, run, io.Discard, io.Discard))
		if again {
			n++
			golden.Equal(t, "the second process is of the same case", ran[0], ran[1])
		}
		golden.Equal(t, fmt.Sprintf("again=%v: processes", again), n, len(ran))
		first := must.Get(s.Read("from", dir))(t)[0]
		golden.Equal(t, fmt.Sprintf("again=%v: the record was disturbed", again), !again, first.Found(record.Disturbed))
	}
}

// TestStudyResumesWithItsProgram: a study continues only with the program without assembly that has run its cases.
func TestStudyResumesWithItsProgram(t *testing.T) {
	s, dir := plonkStudy(t), t.TempDir()
	o := study.Options{Parts: []string{study.Purego}, Rounds: 1, Portable: "digest"}
	must.Do(t, must.Get(s.Begin(dir, circuitDefs(), o, io.Discard))(t).Close())
	for _, other := range []string{"", "another"} {
		must.FailGet(s.Resume(dir, other))(t, zkbench.ErrEnv, "a study with another program")
	}
	must.Do(t, must.Get(s.Resume(dir, o.Portable))(t).Close())
}
