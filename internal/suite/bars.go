package suite

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/zkbench/zkbench/internal/progress"
	"github.com/zkbench/zkbench/internal/record"
)

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
			return "about " + roughly(estimate.Remaining(int(s.Current))-time.Duration(b.spent.Load())) + " left"
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
	fmt.Fprintf(b.lines, "%d/%d %s: %s (%s, about %s left)\n", i+1, b.planned, c.Name(), what, took.Round(100*time.Millisecond), roughly(b.estimate.Remaining(i+1)))
}

// close takes the bars away.
func (b *bars) close() {
	b.stop()
	if b.drawn != nil {
		b.whole.Abort(true)
		b.drawn.Wait()
	}
}
