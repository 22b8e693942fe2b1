package suite

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/atomicfile"
	"github.com/zkbench/zkbench/internal/figure"
	"github.com/zkbench/zkbench/internal/progress"
	"github.com/zkbench/zkbench/internal/record"
)

// Row is a line of a table by the names of its columns.
type Row struct {
	Columns []string
	Values  []string // as many
}

// PutRow adds a row to a table in a CSV file, which it makes where there is none, or
// takes the place of the row with the same value in the column key. Columns that the file
// does not have come after its own; what a line has no value for is empty. The file is
// replaced as a whole, so that a reader never sees half of it, and nobody else puts a row
// meanwhile: those who do wait for a lock beside it.
func PutRow(path, key string, row Row) error {
	unlock, err := lockedfile.MutexAt(path + ".lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	at := slices.Index(row.Columns, key)
	if len(row.Columns) != len(row.Values) || at < 0 {
		return fmt.Errorf("%w: %d columns, %d values, column %q at %d", zkbench.ErrParams, len(row.Columns), len(row.Values), key, at)
	}
	lines, err := readTable(path)
	if err != nil {
		return err
	}
	head := lines[0]
	if len(head) > 0 && !slices.Contains(head, key) {
		return &zkbench.DecodeError{Path: path, Reason: fmt.Sprintf("no column %q: not a table of this program; accepted: another folder", key)}
	}
	for _, c := range row.Columns {
		if !slices.Contains(head, c) {
			head = append(head, c)
		}
	}
	lines[0] = head
	fresh := make([]string, len(head))
	for i, c := range row.Columns {
		fresh[slices.Index(head, c)] = row.Values[i]
	}
	for i := range lines {
		lines[i] = append(lines[i], make([]string, len(head)-len(lines[i]))...)
	}
	column := slices.Index(head, key)
	same := slices.IndexFunc(lines[1:], func(line []string) bool { return line[column] == row.Values[at] })
	if same >= 0 {
		lines[1+same] = fresh
	} else {
		lines = append(lines, fresh)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(lines); err != nil {
		return err
	}
	return atomicfile.Write(path, b.Bytes())
}

// readTable returns the lines of a CSV file, the head first; an empty head where there is
// no file.
func readTable(path string) ([][]string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(raw) == 0 {
		return [][]string{nil}, nil
	}
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(raw))
	lines, err := r.ReadAll()
	if err != nil {
		return nil, &zkbench.DecodeError{Path: path, Reason: err.Error()}
	}
	return lines, nil
}

// bars shows how far a suite is: a line for each case that has ended and, on a
// terminal, below them a bar for the case that runs and one for the suite.
type bars struct {
	lines    io.Writer
	estimate *Estimate
	planned  int

	drawn *mpb.Progress // nil: no terminal
	whole *mpb.Bar
	stop  func()       // of the case's bar
	spent atomic.Int64 // ns of the case that runs, as far as it was expected
}

func newBars(stdout, stderr io.Writer, estimate *Estimate, planned int) *bars {
	b := &bars{lines: stdout, estimate: estimate, planned: planned, stop: func() {}}
	if b.drawn = progress.Bars(stderr); b.drawn == nil {
		return b
	}
	if progress.Terminal(stdout) {
		b.lines = b.drawn // above the bars
	}
	b.whole = b.drawn.AddBar(int64(planned), mpb.BarPriority(1),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d ")),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
			return "about " + figure.Roughly(estimate.Remaining(int(s.Current))-time.Duration(b.spent.Load())) + " left"
		})),
	)
	return b
}

// begins shows that case i runs.
func (b *bars) begins(i int, c *Case) {
	b.stop()
	if b.drawn == nil {
		return
	}
	b.whole.SetCurrent(int64(i))
	done := progress.Timed(b.drawn, "case", c.Name(), b.estimate.CaseTime(c), func(passed time.Duration) { b.spent.Store(int64(passed)) })
	b.stop = func() {
		done()
		b.spent.Store(0)
		b.stop = func() {}
	}
}

// ended shows what has come of case i.
func (b *bars) ended(i int, c *Case, rec *record.Record, took time.Duration) {
	b.stop()
	what := string(rec.Status)
	switch tps, ok := rec.Metric(record.Throughput); {
	case rec.Status != record.OK:
		what += ": " + rec.Error
	case ok:
		what = fmt.Sprintf("%.4g/s, P95 %.4g ms", tps.Value, rec.Value(record.LatencyP95)/1e6)
	}
	fmt.Fprintf(b.lines, "%d/%d %s: %s (%s, about %s left)\n", i+1, b.planned, c.Name(), what, took.Round(100*time.Millisecond), figure.Roughly(b.estimate.Remaining(i+1)))
}

// close takes the bars away.
func (b *bars) close() {
	b.stop()
	if b.drawn != nil {
		b.whole.Abort(true)
		b.drawn.Wait()
	}
}
