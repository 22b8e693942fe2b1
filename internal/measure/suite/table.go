package suite

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/internal/view/progress"
)

// Row is a row of a table, together with the names of the table's columns.
type Row struct {
	Columns []string
	Values  []string // one for each column
}

// PutRow puts a row into the table in the CSV file at path. The parameter key is the name of a
// column. If the table has a row with the same value in that column, PutRow replaces it; otherwise
// it adds the new row. It creates the file if there is none. Columns that the file does not have
// yet are appended to the file's columns, and missing values are empty. The file is replaced as a
// whole, so a reader never sees half of it. A lock file beside it makes concurrent calls wait for
// each other.
//
// PutRow returns zkbench.ErrParams if the row does not have the column that key names, or does not
// have exactly one value for each column. It returns a *zkbench.DecodeError if the file is not a
// table with that column.
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

// readTable returns the lines of a CSV file, the header first. The header is empty if there is no
// file.
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

// bars shows how far a suite has come: a line for each case that has ended and, on a terminal,
// below them a bar for each running case and one for the suite.
type bars struct {
	lines    io.Writer
	printing sync.Mutex // guards lines
	estimate *Estimate
	planned  int
	hosts    []string // one bar for each, in this order

	drawn *mpb.Progress // nil: not on a terminal
	whole *mpb.Bar
	stops map[string]func() // removes the bar of a host's case, by host
}

func newBars(stdout, stderr io.Writer, estimate *Estimate) *bars {
	planned := len(estimate.cases)
	b := &bars{lines: stdout, estimate: estimate, planned: planned, hosts: Hosts(estimate.cases), stops: make(map[string]func())}
	if b.drawn = progress.Bars(stderr); b.drawn == nil {
		return b
	}
	if progress.Terminal(stdout) {
		b.lines = b.drawn // above the bars
	}
	b.whole = b.drawn.AddBar(int64(planned), mpb.BarPriority(len(b.hosts)),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			return "about " + format.Roughly(estimate.Remaining()) + " left"
		})),
	)
	return b
}

// begins shows that a case runs, after done cases have ended.
func (b *bars) begins(done int, c *Case) {
	b.stop(c.Host)
	if b.drawn == nil {
		return
	}
	b.whole.SetCurrent(int64(done))
	b.stops[c.Host] = progress.Timed(b.drawn, slices.Index(b.hosts, c.Host), cmp.Or(c.Host, "case"), c.Name(), b.estimate.CaseTime(c), func(passed time.Duration) { b.estimate.Spent(c.Host, passed) })
}

// stop removes the bar of a host's case.
func (b *bars) stop(host string) {
	if stop := b.stops[host]; stop != nil {
		stop()
		b.estimate.Spent(host, 0)
		delete(b.stops, host)
	}
}

// ended shows the result of the case that was the done-th to end.
func (b *bars) ended(done int, c *Case, rec *record.Record, took time.Duration) {
	b.stop(c.Host)
	what := string(rec.Outcome())
	switch tps, ok := rec.Metric(record.Throughput); {
	case rec.Status != record.OK:
		what += ": " + subprocess.Printable(rec.Error)
	case ok:
		p, known := rec.Metric(record.LatencyP95)
		if !known { // too few operations
			p, _ = rec.Metric(record.LatencyP50)
		}
		what = fmt.Sprintf("%.4g/s, %s %.4g ms", tps.Value, p.Label(), p.Value/1e6)
		if rec.Few(p.Quantity) {
			what += " few"
		}
	}
	for _, name := range []string{triedAgain, runner.AnyResult, runner.InputChanged} {
		if rec.Found(name) {
			what += ", " + name
		}
	}
	b.print("%d/%d %s: %s (%s, about %s left)\n", done, b.planned, c.Name(), what, took.Round(100*time.Millisecond), format.Roughly(b.estimate.Remaining()))
}

// say shows a text about the host of a running case.
func (b *bars) say(c *Case, text string) { b.print("%s: %s\n", c.Host, text) }

func (b *bars) print(format string, args ...any) {
	b.printing.Lock()
	defer b.printing.Unlock()
	fmt.Fprintf(b.lines, format, args...)
}

// close removes all bars.
func (b *bars) close() {
	for host := range b.stops {
		b.stop(host)
	}
	if b.drawn != nil {
		b.whole.Abort(true)
		b.drawn.Wait()
	}
}
