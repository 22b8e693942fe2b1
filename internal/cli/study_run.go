package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/progress"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// studyRun measures a study.
type studyRun struct {
	study   *study.Study
	options study.Options
	dir     string // of records, page and charts
	defs    []workload.Def
	earlier []*record.Record // of a run before, which are taken over
	run     func(context.Context, study.Job) *record.Record
	notes   []string // what is not measured, and why
}

// without leaves a part out.
func (r *studyRun) without(part, why string) {
	r.options.Parts = slices.DeleteFunc(r.options.Parts, func(p string) bool { return p == part })
	r.notes = append(r.notes, fmt.Sprintf("the part %s: %s", part, why))
}

// all measures the study and writes its page. An interrupt ends it with what was
// measured.
func (r *studyRun) all(ctx context.Context, stdout, stderr io.Writer) (err error) {
	jobs, missing := r.study.Plan(r.defs, r.options)
	out, err := newOutput(r.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.close()) }()
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
	if err != nil {
		return &exitError{code: exitFailed, text: err.Error()}
	}
	if err := writeStudy(stdout, r.dir, r.study, recs); err != nil {
		return &exitError{code: exitFailed, text: err.Error()}
	}
	return verdict(ctx, counted, len(jobs))
}

// measure runs the jobs and keeps their records, until ctx ends. Counted are those that
// decide whether the study failed: all but cases that this machine has no memory for.
func (r *studyRun) measure(ctx context.Context, stderr io.Writer, out *output, jobs []study.Job) (recs, counted []*record.Record, err error) {
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
			rec = r.run(ctx, job)
		}
		job.Keep(rec, session)
		if err := out.records.Write(rec); err != nil {
			return recs, counted, err
		}
		recs = append(recs, rec)
		if !job.Optional || !study.TooLarge(rec) {
			counted = append(counted, rec)
		}
	}
	return recs, counted, nil
}

// measured returns the earlier record of a job that ran to its end; nil: none.
func (r *studyRun) measured(job *study.Job) *record.Record {
	i := slices.IndexFunc(r.earlier, func(rec *record.Record) bool { return rec.Status == record.OK && job.Is(rec) })
	if i < 0 {
		return nil
	}
	return r.earlier[i]
}

// readStudy reads the records of a study in a directory, which the flag names.
func readStudy(flag, dir string, s *study.Study) ([]*record.Record, error) {
	file, err := os.Open(filepath.Join(dir, recordsFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	recs, err := record.ReadAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	for _, r := range recs {
		if !s.Has(r) {
			return nil, &usage.ValueError{Field: flag, Value: dir, Accepted: fmt.Sprintf("records of study %s; %s/%s of %q is none", s.Name, r.Workload, r.Case, r.Process.Side)}
		}
	}
	return recs, nil
}

// writeStudy writes the page and the charts of records, and says where.
func writeStudy(stdout io.Writer, dir string, s *study.Study, recs []*record.Record) error {
	charts, err := s.Charts(recs)
	if err != nil {
		return err
	}
	for _, c := range charts {
		if err := view(dir, c.File, c.Write); err != nil {
			return err
		}
	}
	if err := view(dir, s.File(), func(w io.Writer) error { return s.Page(w, recs) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %d records, %d charts\n", filepath.Join(dir, s.File()), len(recs), len(charts))
	return err
}
