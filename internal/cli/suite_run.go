package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/zkbench/zkbench/internal/env"
	"github.com/zkbench/zkbench/internal/page"
	"github.com/zkbench/zkbench/internal/proc"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/suite"
	"github.com/zkbench/zkbench/internal/workload"
)

// suiteRun is a suite that is measured.
type suiteRun struct {
	defs           []workload.Def
	dir            string
	header         suite.Header
	journal        *suite.Journal
	again          string // the command that goes on
	stdout, stderr io.Writer

	folder   *suite.Folder
	status   suite.Status
	estimate *suite.Estimate
	bars     *suiteBars
	began    time.Time // of the case that runs
}

// all measures what the journal has no record of, and writes the tables, the plots and
// the page of all that it has then.
func (r *suiteRun) all(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return &exitError{code: exitFailed, text: err.Error()}
	}
	if r.folder, err = suite.OpenFolder(r.dir); err != nil {
		return &exitError{code: exitFailed, text: fmt.Sprintf("out: %v", err)}
	}
	r.estimate = suite.NewEstimate(r.header.Plan)
	r.status = suite.Status{Suite: r.header.Suite, Session: r.header.Session, Begun: r.header.Begun, Planned: len(r.header.Plan)}
	r.bars = newSuiteBars(r.stdout, r.stderr, r.estimate, len(r.header.Plan))
	command := proc.Command{Path: self, Args: []string{execCase}}
	run := suite.Run{
		Cases: r.header.Plan, Journal: r.journal, Session: r.header.Session,
		Measure: command.Run, Begins: r.begins, Ended: r.ended,
	}
	stopped := run.All(ctx)
	r.bars.close()
	return r.close(ctx, stopped)
}

func (r *suiteRun) begins(i int, c *suite.Case) {
	r.began = time.Now()
	r.status.Running, r.status.Left = c.Name(), r.estimate.From(i)
	_ = r.status.Write(r.dir) // a view; what matters is kept when the case ends
	r.bars.begins(i, c)
}

func (r *suiteRun) ended(i int, c *suite.Case, rec *record.Record, fresh bool) error {
	took := time.Since(r.began)
	if !fresh {
		took = 0
		for _, s := range rec.Stages {
			took += s.Time
		}
		if i == 0 {
			r.otherMachine(rec)
		}
	}
	r.estimate.Took(c, took)
	r.status.Done++
	if rec.Status != record.OK {
		r.status.Failed++
	}
	if fresh {
		r.bars.ended(i, c, rec, took)
	}
	if err := r.folder.Add(c, rec); err != nil {
		return fmt.Errorf("%s is in the journal and not among the records: %w", c.Name(), err)
	}
	return nil
}

// otherMachine says so where the suite was begun on another machine or by another build.
func (r *suiteRun) otherMachine(rec *record.Record) {
	now := env.Read()
	now.GOMAXPROCS = rec.Env.GOMAXPROCS // the case's
	for _, d := range env.Differences(rec.Env, now) {
		fmt.Fprintf(r.stderr, "begun elsewhere: %s; what differs so stands apart in tables and plots\n", d)
	}
	if rec.Env.Commit != now.Commit {
		fmt.Fprintf(r.stderr, "begun by another build: commit %q, this is %q\n", rec.Env.Commit, now.Commit)
	}
}

// close writes the views of what there is, and says how the suite ended.
func (r *suiteRun) close(ctx context.Context, stopped error) error {
	r.status.Running, r.status.Stopped = "", true
	r.status.Left = r.estimate.From(r.status.Done)
	err := r.folder.Close()
	again := fmt.Sprintf("go on with: %s --resume %s", r.again, r.dir)
	counted := fmt.Sprintf("%d of %d processes measured", r.status.Done, r.status.Planned)
	if stopped != nil && ctx.Err() == nil { // what could not be written then cannot be now
		return &exitError{code: exitFailed, text: fmt.Sprintf("%v; %s; %s", stopped, counted, again)}
	}
	if recs := r.folder.Records; len(recs) > 0 {
		err = errors.Join(err, r.results(recs), writeViews(r.dir, r.page(recs)), writePlots(r.dir, recs))
	}
	if err = errors.Join(err, r.status.Write(r.dir)); err != nil {
		return &exitError{code: exitFailed, text: fmt.Sprintf("%v; %s; %s", err, counted, again)}
	}
	if len(r.folder.Records) > 0 {
		fmt.Fprintf(r.stdout, "%s: %s, %s, %s\n", r.dir, pageFile, plotsFile, suite.ResultsFile)
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{code: exitPartial, text: fmt.Sprintf("interrupted: %s; %s", counted, again)}
	case r.status.Failed > 0:
		return &exitError{code: exitFailed, text: fmt.Sprintf("%d of %d processes failed; why stands in %s", r.status.Failed, r.status.Planned, filepath.Join(r.dir, pageFile))}
	}
	return nil
}

// page is what the page of the suite shows.
func (r *suiteRun) page(recs []*record.Record) page.Data {
	return page.Data{Title: "suite " + r.header.Suite, Records: recs, Defs: r.defs}
}

// results puts the row of the suite into the history beside the folder, of which the
// folder gets a copy.
func (r *suiteRun) results(recs []*record.Record) error {
	history := filepath.Join(filepath.Dir(filepath.Clean(r.dir)), suite.ResultsFile)
	if err := suite.PutRow(history, suite.SessionColumn, suite.Results(r.header, recs)); err != nil {
		return err
	}
	raw, err := os.ReadFile(history)
	if err != nil {
		return err
	}
	return suite.Replace(filepath.Join(r.dir, suite.ResultsFile), raw)
}
