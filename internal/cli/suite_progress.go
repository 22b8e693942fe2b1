package cli

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/suite"
)

// suiteBars shows how far a suite is: a line for each case that has ended and, on a
// terminal, below them a bar for the case that runs and one for the suite.
type suiteBars struct {
	lines    io.Writer
	estimate *suite.Estimate
	planned  int

	bars  *mpb.Progress // nil: no terminal
	whole *mpb.Bar
	stop  func()       // of the case's bar
	spent atomic.Int64 // ns of the case that runs, as far as it was expected
}

func newSuiteBars(stdout, stderr io.Writer, estimate *suite.Estimate, planned int) *suiteBars {
	b := &suiteBars{lines: stdout, estimate: estimate, planned: planned, stop: func() {}}
	file, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return b
	}
	b.bars = mpb.New(mpb.WithOutput(file), mpb.WithWidth(30))
	if out, ok := stdout.(*os.File); ok && term.IsTerminal(int(out.Fd())) {
		b.lines = b.bars // above the bars
	}
	b.whole = b.bars.AddBar(int64(planned), mpb.BarPriority(1),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d ")),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
			return "about " + about(estimate.From(int(s.Current))-time.Duration(b.spent.Load())) + " left"
		})),
	)
	return b
}

// begins shows that case i runs.
func (b *suiteBars) begins(i int, c *suite.Case) {
	b.stop()
	if b.bars == nil {
		return
	}
	b.whole.SetCurrent(int64(i))
	expected := max(int64(b.estimate.Of(c)), 1)
	bar := b.bars.AddBar(expected, mpb.BarPriority(0), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name("case ")),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO), decor.Name(" "+c.Name())),
	)
	done := every(200*time.Millisecond, func(passed time.Duration) {
		b.spent.Store(min(int64(passed), expected-1))
		bar.SetCurrent(b.spent.Load())
	})
	b.stop = func() {
		done()
		b.spent.Store(0)
		bar.Abort(true)
		bar.Wait()
		b.stop = func() {}
	}
}

// ended shows what has come of case i.
func (b *suiteBars) ended(i int, c *suite.Case, rec *record.Record, took time.Duration) {
	b.stop()
	what := string(rec.Status)
	switch tps, ok := rec.Metric(record.Throughput); {
	case rec.Status != record.OK:
		what += ": " + rec.Error
	case ok:
		what = fmt.Sprintf("%.4g/s, P95 %.4g ms", tps.Value, rec.Value(record.LatencyP95)/1e6)
	}
	fmt.Fprintf(b.lines, "%d/%d %s: %s (%s, about %s left)\n", i+1, b.planned, c.Name(), what, took.Round(100*time.Millisecond), about(b.estimate.From(i+1)))
}

// close takes the bars away.
func (b *suiteBars) close() {
	b.stop()
	if b.bars != nil {
		b.whole.Abort(true)
		b.bars.Wait()
	}
}

// every calls show with the time that has passed until done is called.
func every(interval time.Duration, show func(passed time.Duration)) (done func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(stopped)
		ticks := time.NewTicker(interval)
		defer ticks.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticks.C:
				show(time.Since(begin))
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}
