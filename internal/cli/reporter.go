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

// reporter is where the records of a run go: the text on stdout, the directory of
// --out, the file of --json. What a case leaves is written as the case ends.
type reporter struct {
	stdout io.Writer
	style  text.Style
	out    *outdir.Dir // nil: none
	json   *os.File    // nil: none
	recs   []*record.Record

	baseline string // file that the records are kept in when all are well; empty: none

	verbose bool // the report of each case, and the long table
}

// newReporter finds out before the run that what it is to write can be written.
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

// styleOf is colour for a terminal whose user has not asked for none.
func styleOf(w io.Writer) text.Style {
	return text.Style{Colour: progress.Terminal(w) && os.Getenv("NO_COLOR") == ""}
}

// add writes a record, and its report where that is asked for.
func (r *reporter) add(rec *record.Record) error {
	if err := r.keep(rec); err != nil || !r.verbose {
		return err
	}
	return r.style.Case(r.stdout, rec)
}

// show writes one record: its report, or its line.
func (r *reporter) show(rec *record.Record) error {
	if r.verbose {
		return r.style.Case(r.stdout, rec)
	}
	return r.style.Summary(r.stdout, []*record.Record{rec})
}

// keep writes a record without its report on stdout.
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

// table writes the table of all records.
func (r *reporter) table() error {
	if r.verbose {
		return r.style.Table(r.stdout, r.recs)
	}
	return r.style.Summary(r.stdout, r.recs)
}

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
