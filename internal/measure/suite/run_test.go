package suite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

func cases(n int) (all []suite.Case) {
	for i := range n {
		c := workload.NewCase(record.Axis{Key: "n", Value: fmt.Sprint(i)})
		all = append(all, suite.Case{Job: measure.Job{Workload: "Some", Case: c, Settings: measure.DefaultSettings(1, time.Second), Procs: 1}})
	}
	return all
}

func keys(all []suite.Case) (out []string) {
	for i := range all {
		out = append(out, all[i].Key())
	}
	return out
}

func measured(job measure.Job) *record.Record { return job.Settings.New(job.Workload, job.Case) }

func TestInterleave(t *testing.T) {
	all := suite.Interleave(cases(2), 2)
	want := []string{
		"run Some/n=0/workers=1 cpus=1 #1", "run Some/n=1/workers=1 cpus=1 #1",
		"run Some/n=0/workers=1 cpus=1 #2", "run Some/n=1/workers=1 cpus=1 #2",
	}
	golden.Equal(t, "cases", want, keys(all))
}

// TestGoesOn: a suite that is stopped at any place and goes on has every case once, in
// their order.
func TestGoesOn(t *testing.T) {
	all := suite.Interleave(cases(3), 2)
	for stop := range len(all) {
		dir := t.TempDir()
		j := must.Get(suite.Create(dir, suite.Header{Suite: "some", Plan: all}))(t)
		var ran []string
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		run := suite.Run{
			Attempts: 2,
			Cases:    all, Journal: j, Session: "one", Begins: func(int, *suite.Case) {},
			Measure: func(_ context.Context, c *suite.Case) (*record.Record, error) {
				rec := measured(c.Job)
				if len(ran) == stop { // in its middle
					cancel(stopped)
					rec.Status = record.Partial
					return rec, nil
				}
				ran = append(ran, rec.ID)
				return rec, nil
			},
			Ended: func(int, *suite.Case, *record.Record, bool) error { return nil },
		}
		must.Fail(t, run.All(ctx), stopped, "stopped at %d", stop)
		must.Do(t, j.Close())

		j, head, err := suite.Open(dir)
		must.Do(t, err)
		golden.Equal(t, "cases of the plan", keys(all), keys(head.Plan))
		var ended []string
		fresh := 0
		run.Journal = j
		run.Earlier = must.Get(j.Records())(t)
		run.Measure = func(_ context.Context, c *suite.Case) (*record.Record, error) {
			rec := measured(c.Job)
			ran = append(ran, rec.ID)
			return rec, nil
		}
		run.Ended = func(i int, c *suite.Case, r *record.Record, isFresh bool) error {
			ended = append(ended, r.ID)
			if isFresh {
				fresh++
			}
			return nil
		}
		must.Do(t, run.All(t.Context()))
		if !slices.Equal(ran, ended) || fresh != len(all)-stop || len(ended) != len(all) {
			t.Errorf("stopped at %d: %d ran, %d ended, %d fresh", stop, len(ran), len(ended), fresh)
		}
		must.Do(t, j.Close())
	}
}

// TestTriedAgain: a case that fails is tried once more, one that is refused is not, and
// neither stops the rest.
func TestTriedAgain(t *testing.T) {
	for _, test := range []struct {
		name   string
		fails  int // processes of the second case
		finds  string
		runs   int
		status record.Status
	}{
		{"too large, as it may be", 9, "large", 3, record.Failed},
		{"once", 1, "", 4, record.OK},
		{"always", 9, "", 4, record.Failed},
		{"refused", 9, record.Refused, 3, record.Failed},
		{"stopped at its deadline", 9, "deadline", 3, record.Partial},
	} {
		j := must.Get(suite.Create(t.TempDir(), suite.Header{}))(t)
		runs, failed := 0, 0
		var got []*record.Record
		run := suite.Run{
			Attempts: 2,
			Cases:    cases(3), Journal: j, Begins: func(int, *suite.Case) { runs++ },
			Measure: func(_ context.Context, c *suite.Case) (*record.Record, error) {
				rec := measured(c.Job)
				if c.Case.Get("n") == "1" && failed < test.fails {
					failed++
					rec.Status, rec.Error = record.Failed, "on purpose"
					if test.finds == "deadline" {
						rec.Status = record.Partial
					}
					if c.Optional = test.finds == "large"; c.Optional {
						rec.Error = (&zkbench.LimitError{What: "bytes of memory", Estimate: 2, Max: 1}).Error()
					}
					if test.finds != "" {
						rec.Findings = append(rec.Findings, record.Finding{Name: test.finds})
					}
				}
				return rec, nil
			},
			Ended: func(_ int, _ *suite.Case, r *record.Record, _ bool) error {
				got = append(got, r)
				return nil
			},
		}
		must.Do(t, run.All(t.Context()))
		if runs != test.runs || len(got) != 3 || got[1].Status != test.status || got[2].Status != record.OK {
			t.Errorf("%s: %d processes, %d records", test.name, runs, len(got))
		}
		again := slices.ContainsFunc(got[1].Findings, func(f record.Finding) bool { return f.Name == "tried again" && f.Text == "on purpose" })
		golden.Equal(t, test.name+": tried again", test.runs == 4, again)
		must.Do(t, j.Close())
	}
}

// TestJournalRefuses: folders that have a journal, have none, or have one that is not.
func TestJournalRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := suite.Open(dir); !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("no journal: %v", err)
	}
	j := must.Get(suite.Create(dir, suite.Header{Suite: "some"}))(t)
	must.FailGet(suite.Create(dir, suite.Header{}))(t, zkbench.ErrParams, "a journal that is there")
	if _, _, err := suite.Open(dir); !errors.Is(err, zkbench.ErrEnv) {
		t.Errorf("a journal that is open: %v", err)
	}
	rec := measured(cases(1)[0].Job)
	must.Do(t, j.Put("a", rec))
	must.Fail(t, j.Put("a", rec), must.ErrAny, "a second record of a case")
	if got, err := j.Records(); len(got) != 1 || got["a"] == nil || got["a"].ID != rec.ID || err != nil {
		t.Errorf("records: %v, %v", got, err)
	}
	must.Do(t, j.Close())
	must.Do(t, os.WriteFile(filepath.Join(dir, "journal.db"), []byte("no database"), 0o600))
	if _, _, err := suite.Open(dir); err == nil {
		t.Error("a file that is no journal is opened")
	}
}

// TestNoise: a case that was disturbed is measured once more where that is asked for, and what
// it waits for a quiet machine comes out of one budget.
func TestNoise(t *testing.T) {
	disturbed := func(job measure.Job) *record.Record {
		rec := measured(job)
		rec.Findings = []record.Finding{{Name: record.Disturbed, Text: "others were there"}}
		return rec
	}
	failed := func(job measure.Job) *record.Record {
		rec := measured(job)
		rec.Status, rec.Error = record.Failed, "broken"
		return rec
	}
	type measuring = func(measure.Job) *record.Record
	for name, test := range map[string]struct {
		again    bool
		ran      []measuring
		status   record.Status
		findings []string
	}{
		"not asked for":        {false, []measuring{disturbed}, record.OK, []string{record.Disturbed}},
		"quiet the first time": {true, []measuring{measured}, record.OK, nil},
		"quiet then":           {true, []measuring{disturbed, measured}, record.OK, []string{"measured again"}},
		"never quiet":          {true, []measuring{disturbed, disturbed}, record.OK, []string{record.Disturbed, "measured again"}},
		"fails then":           {true, []measuring{disturbed, failed}, record.OK, []string{record.Disturbed, "measured again"}},
		"disturbed then":       {true, []measuring{failed, disturbed}, record.OK, []string{record.Disturbed, "tried again"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := must.Get(suite.Create(t.TempDir(), suite.Header{Suite: "some", Plan: cases(1)}))(t)
			defer j.Close()
			n := 0
			var got *record.Record
			var limits []time.Duration
			run := suite.Run{
				Attempts: 2,
				Cases:    cases(1), Journal: j, Begins: func(int, *suite.Case) {}, Noise: suite.Noise{Again: test.again, QuietWait: 5 * time.Second},
				Measure: func(_ context.Context, c *suite.Case) (*record.Record, error) { n++; return test.ran[n-1](c.Job), nil },
				Await: func(_ context.Context, limit time.Duration) time.Duration {
					limits = append(limits, limit)
					return 4 * time.Second
				},
				Ended: func(_ int, _ *suite.Case, r *record.Record, _ bool) error { got = r; return nil },
			}
			must.Do(t, run.All(t.Context()))
			var findings []string
			for _, f := range got.Findings {
				findings = append(findings, f.Name)
			}
			golden.Equal(t, "findings", test.findings, findings)
			golden.Equal(t, "status", test.status, got.Status)
			golden.Equal(t, "processes", len(test.ran), n)
			golden.Equal(t, "limits of waiting", []time.Duration{5 * time.Second, time.Second}[:len(test.ran)], limits)
		})
	}
}
