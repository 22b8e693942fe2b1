package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/atomicfile"
	"github.com/zkbench/zkbench/internal/env"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/page"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/suite"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// suiteRun is a suite that is measured.
type suiteRun struct {
	defs           []workload.Def
	dir            string
	earlier        map[string]*record.Record // what the journal had, by the case's key
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
	if r.folder, err = suite.OpenFolder(r.dir, r.header.Plan, r.earlier); err != nil {
		return &exitError{code: exitFailed, text: fmt.Sprintf("out: %v", err)}
	}
	r.estimate = suite.NewEstimate(r.header.Plan)
	r.status = suite.Status{Suite: r.header.Suite, Session: r.header.Session, Begun: r.header.Begun, Planned: len(r.header.Plan)}
	r.bars = newSuiteBars(r.stdout, r.stderr, r.estimate, len(r.header.Plan))
	command := measure.Program{Path: self, Args: []string{execCase}}
	run := suite.Run{
		Cases: r.header.Plan, Journal: r.journal, Session: r.header.Session, Earlier: r.earlier,
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
	}
	r.estimate.Took(c, took)
	r.status.Done++
	if rec.Status != record.OK {
		r.status.Failed++
	}
	if fresh {
		r.bars.ended(i, c, rec, took)
	}
	if err := r.folder.Add(c, rec, fresh); err != nil {
		return fmt.Errorf("%s is in the journal and not among the records: %w", c.Name(), err)
	}
	return nil
}

// sameMachine returns an error where a suite was begun by another build or on a machine
// that differs, of which figures could not be compared with those that are to come.
func sameMachine(h suite.Header, earlier map[string]*record.Record) error {
	now := env.Read()
	for i := range h.Plan {
		r := earlier[h.Plan[i].Key()]
		if r == nil {
			continue
		}
		differs := env.AllDifferences(r.Env, now)
		if len(differs) == 0 {
			return nil // as are all of them
		}
		return fmt.Errorf("%w: the suite was begun elsewhere: %s; accepted: its machine, settings and build", zkbench.ErrEnv, strings.Join(differs, "; "))
	}
	return nil
}

// there are the files of a directory that exist.
func there(dir string, names ...string) (some []string) {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			some = append(some, name)
		}
	}
	return some
}

// close writes the views of what there is, and says how the suite ended.
func (r *suiteRun) close(ctx context.Context, stopped error) error {
	r.status.Running, r.status.Stopped = "", true
	r.status.Left = r.estimate.From(r.status.Done)
	err := r.folder.Close()
	again := fmt.Sprintf("go on with: %s --resume %s", r.again, usage.Quote(r.dir))
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
		fmt.Fprintf(r.stdout, "%s: %s\n", r.dir, strings.Join(there(r.dir, pageFile, plotsFile, suite.ResultsFile), ", "))
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
	d := pageData(r.defs)
	d.Title, d.Records = "suite "+r.header.Suite, recs
	return d
}

// results puts the row of the suite into the history beside the folder, of which the
// folder gets a copy.
func (r *suiteRun) results(recs []*record.Record) error {
	dir, err := filepath.Abs(r.dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	history := filepath.Join(filepath.Dir(dir), suite.ResultsFile)
	if err := suite.PutRow(history, suite.SessionColumn, suite.Results(r.header, recs)); err != nil {
		return err
	}
	raw, err := os.ReadFile(history)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(r.dir, suite.ResultsFile), raw)
}
