package study

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/outdir"
	"github.com/zkbench/zkbench/internal/view/progress"
	"github.com/zkbench/zkbench/internal/workload"
)

// Run measures a study.
type Run struct {
	Study   *Study
	Options Options
	Dir     string // of records, page and charts
	Defs    []workload.Def
	Earlier []*record.Record // of a run before, which are taken over
	Do      func(context.Context, Job) *record.Record
	notes   []string // what is not measured, and why
}

// Without leaves a part out.
func (r *Run) Without(part, why string) {
	r.Options.Parts = slices.DeleteFunc(r.Options.Parts, func(p string) bool { return p == part })
	r.notes = append(r.notes, fmt.Sprintf("the part %s: %s", part, why))
}

// WriteError says that a record or the page was not written.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }

func (e *WriteError) Unwrap() error { return e.Err }

// Measure measures the study and writes its page. An interrupt ends it with what was
// measured. Counted are the records that decide whether the study failed: all but those of
// cases that this machine has no memory for. planned is how many processes there were to
// be. The error is a *WriteError, or says what is wrong with the directory.
func (r *Run) Measure(ctx context.Context, stdout, stderr io.Writer) (counted []*record.Record, planned int, err error) {
	jobs, missing := r.Study.Plan(r.Defs, r.Options)
	out, err := outdir.Create(r.Dir)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if len(missing) > 0 {
		fmt.Fprintf(stdout, "not measured, for want of the workload: %s\n", strings.Join(missing, ", "))
	}
	for _, n := range r.notes {
		fmt.Fprintf(stdout, "not measured: %s\n", n)
	}
	var expected, optional time.Duration
	for _, job := range jobs {
		if job.Optional {
			optional += job.Expected
		} else {
			expected += job.Expected
		}
	}
	fmt.Fprintf(stdout, "%d processes, about %v", len(jobs), expected.Round(time.Second))
	if optional > 0 {
		fmt.Fprintf(stdout, ", and up to %v for what needs much memory", optional.Round(time.Second))
	}
	fmt.Fprintln(stdout)

	recs, counted, err := r.measure(ctx, stderr, out, jobs)
	if err == nil {
		err = r.Study.Write(stdout, r.Dir, recs)
	}
	if err != nil {
		return nil, 0, &WriteError{err}
	}
	return counted, len(jobs), nil
}

// measure runs the jobs and keeps their records, until ctx ends.
func (r *Run) measure(ctx context.Context, stderr io.Writer, out *outdir.Dir, jobs []Job) (recs, counted []*record.Record, err error) {
	session := rand.Text()
	show, done := progress.Counter(stderr, "processes")
	defer done()
	for i, job := range jobs {
		if ctx.Err() != nil {
			break
		}
		show(uint64(i), uint64(len(jobs)))
		rec := r.measured(&job)
		if rec == nil {
			rec = r.Do(ctx, job)
		}
		job.Keep(rec, session)
		if err := out.Keep(rec); err != nil {
			return nil, nil, err
		}
		recs = append(recs, rec)
		if !job.Optional || !TooLarge(rec) {
			counted = append(counted, rec)
		}
	}
	return recs, counted, nil
}

// measured returns the earlier record of a job that ran to its end; nil: none.
func (r *Run) measured(job *Job) *record.Record {
	i := slices.IndexFunc(r.Earlier, func(rec *record.Record) bool { return rec.Status == record.OK && job.Is(rec) })
	if i < 0 {
		return nil
	}
	return r.Earlier[i]
}

// Read reads the records of the study in a directory, which the flag names.
func (s *Study) Read(flag, dir string) ([]*record.Record, error) {
	path := outdir.Records(dir)
	data, err := record.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	recs, err := record.ReadAll(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, r := range recs {
		if !s.Has(r) {
			return nil, &argument.ValueError{Field: flag, Value: dir, Accepted: fmt.Sprintf("records of study %s; %s/%s of %q is none", s.Name, r.Workload, r.Case, r.Process.Side)}
		}
	}
	return recs, nil
}

// Write writes the page and the charts of records, and says where.
func (s *Study) Write(stdout io.Writer, dir string, recs []*record.Record) error {
	charts, err := s.Charts(recs)
	if err != nil {
		return err
	}
	for _, c := range charts {
		if err := outdir.View(dir, c.File, c.Write); err != nil {
			return err
		}
	}
	if err := outdir.View(dir, s.File(), func(w io.Writer) error { return s.Page(w, recs) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %d records, %d charts\n", filepath.Join(dir, s.File()), len(recs), len(charts))
	return err
}
