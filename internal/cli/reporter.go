package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/outdir"
	"github.com/zkbench/zkbench/internal/view/progress"
	"github.com/zkbench/zkbench/internal/view/text"
)

// reporter writes the records of a run to their destinations: as text to stdout, into the directory
// of --out, and to the file of --json. The files of a case are written when it ends.
type reporter struct {
	stdout io.Writer
	style  text.Style
	out    *outdir.Dir // nil: none
	json   *os.File    // nil: none
	recs   []*record.Record

	baseline string // file to save the records in if all are ok; empty: none

	verbose bool // print the report of each case, and the long table
}

// newReporter creates the directory and the file before the run, so that errors show early.
func newReporter(stdout io.Writer, out, json *argument.Option) (*reporter, error) {
	r := &reporter{stdout: stdout, style: styleOf(stdout)}
	var err error
	if out.Given {
		if r.out, err = outdir.Create(out.Text); err != nil {
			return nil, err
		}
	}
	if json.Given {
		if r.json, err = os.Create(json.Text); err != nil {
			return nil, errors.Join(fmt.Errorf("json: %w", err), r.close())
		}
	}
	return r, nil
}

// styleOf returns a style with colour if w is a terminal and NO_COLOR is not set.
func styleOf(w io.Writer) text.Style {
	return text.Style{Colour: progress.Terminal(w) && os.Getenv("NO_COLOR") == ""}
}

// add writes a record, and its report if verbose is set.
func (r *reporter) add(rec *record.Record) error {
	if err := r.keep(rec); err != nil || !r.verbose {
		return err
	}
	return r.style.Case(r.stdout, rec)
}

// show prints one record: its report, or its line.
func (r *reporter) show(rec *record.Record) error {
	if r.verbose {
		return r.style.Case(r.stdout, rec)
	}
	return r.style.Summary(r.stdout, []*record.Record{rec})
}

// keep writes a record without printing a report.
func (r *reporter) keep(rec *record.Record) error {
	r.recs = append(r.recs, rec)
	if r.json != nil {
		if err := record.Write(r.json, rec); err != nil {
			return err
		}
	}
	if r.out != nil {
		return r.out.Add(rec)
	}
	return nil
}

// table prints the table of all records.
func (r *reporter) table() error {
	if r.verbose {
		return r.style.Table(r.stdout, r.recs)
	}
	return r.style.Summary(r.stdout, r.recs)
}

// predictions prints what records with predicted times say.
func (r *reporter) predictions() error { return r.style.Predictions(r.stdout, r.recs) }

func (r *reporter) close() error {
	var errs []error
	if r.out != nil {
		errs = append(errs, r.out.Close())
	}
	if r.json != nil {
		errs = append(errs, r.json.Close())
	}
	return errors.Join(errs...)
}
