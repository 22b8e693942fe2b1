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

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/outdir"
	"github.com/zkbench/zkbench/internal/workload"
)

// Begin creates a session that measures the study and stores the records in the directory dir. On stdout it prints the
// number of processes, the time that they are expected to take, and the names of the workloads that the study needs but
// that are missing in defs.
func (s *Study) Begin(dir string, defs []workload.Def, o Options, stdout io.Writer) (*suite.Session, error) {
	cases, missing := s.Plan(defs, o)
	if !slices.ContainsFunc(cases, func(c suite.Case) bool { return Portable(&c) }) {
		o.Portable = ""
	}
	session, err := suite.Begin(dir, &suite.Plan{Header: suite.Header{
		Suite: "study " + s.Name, Session: rand.Text(), Begun: time.Now().Truncate(time.Second), Plan: cases,
		Study: s.Name, Portable: o.Portable, Noise: suite.Noise{Again: o.Again},
	}})
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		fmt.Fprintf(stdout, "not measured, because the workload is missing: %s\n", strings.Join(missing, ", "))
	}
	var expected, optional time.Duration
	for _, c := range cases {
		if c.Optional {
			optional += c.Expected
		} else {
			expected += c.Expected
		}
	}
	fmt.Fprintf(stdout, "%d processes, about %v", len(cases), expected.Round(time.Second))
	if optional > 0 {
		fmt.Fprintf(stdout, ", and up to %v for cases that need much memory", optional.Round(time.Second))
	}
	fmt.Fprintln(stdout)
	return session, nil
}

// Resume opens a directory in which this study was interrupted, so that Measure continues it. Cases that failed are
// measured again. Resume returns an *argument.ValueError if the directory belongs to another study or to a suite. The
// parameter portable is the SHA-256 of the portable program (Purego). If the study has portable cases, Resume returns
// zkbench.ErrEnv unless they were begun with the program that has this digest.
func (s *Study) Resume(dir, portable string) (*suite.Session, error) {
	session, err := suite.Resume(dir, s.Name)
	if err != nil {
		return nil, err
	}
	if want := session.Portable(); want != "" && want != portable {
		err = fmt.Errorf("%w: the study was begun with another program without assembly; accepted: the same, by --purego", zkbench.ErrEnv)
	} else {
		err = session.Retry()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("resume: %w", err), session.Close())
	}
	return session, nil
}

// Measure runs the cases of a session that have no record yet, and then writes the page of all records. Measure calls
// the function measure to run one case. The parameter again is the command that resumes the study, or empty if the
// study cannot be resumed. If ctx ends, Measure stops and writes the page of what was measured until then. Measure
// always closes the session. It returns the errors of suite.Session.Run.
func (s *Study) Measure(ctx context.Context, session *suite.Session, measure func(context.Context, *suite.Case) (*record.Record, error), again string, stdout, stderr io.Writer) error {
	err := session.Run(ctx, suite.Caller{
		Measure: func(ctx context.Context, c *suite.Case, _ func(string)) (*record.Record, error) {
			rec, err := measure(ctx, c)
			if err == nil {
				CheckPortable(c, rec)
			}
			return rec, err
		},
		Views:    func(dir string, recs []*record.Record) error { return s.Write(stdout, dir, recs) },
		Failures: s.File(), Again: again, Stdout: stdout, Stderr: stderr,
	})
	return errors.Join(err, session.Close())
}

// Read reads the records of the study from the directory dir. The parameter flag is the name of the flag with which the
// user gave that directory; errors name it. Read returns an *argument.ValueError if a record belongs to another study.
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
			return nil, &argument.ValueError{Field: flag, Value: dir, Accepted: fmt.Sprintf("records of study %s; %s/%s of part %q is from another study", s.Name, r.Workload, r.Case, r.Process.Side)}
		}
	}
	return recs, nil
}

// Write writes the page and the charts of records into a directory, and prints the page's path on stdout.
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
