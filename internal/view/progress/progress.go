// Package progress draws bars on a terminal. Where there is none it draws nothing.
package progress

import (
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// Terminal tells whether w is a terminal.
func Terminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Bars returns what draws bars on w; nil: w is no terminal.
func Bars(w io.Writer) *mpb.Progress {
	if !Terminal(w) {
		return nil
	}
	return mpb.New(mpb.WithOutput(w), mpb.WithWidth(30))
}

// Timed adds a bar that fills with the time that passes, and stays short of its end until
// done is called, which takes it away. show, unless it is nil, hears of the time that the
// bar shows. Bars stand in the order of their places.
func Timed(bars *mpb.Progress, place int, label, caption string, expected time.Duration, show func(time.Duration)) (done func()) {
	expected = max(expected, 1)
	bar := bars.AddBar(int64(expected),
		mpb.BarPriority(place), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(label+" ")),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO), decor.Name(" "+caption)),
	)
	stop, stopped := make(chan struct{}), make(chan struct{})
	begin := time.Now()
	go func() {
		defer close(stopped)
		ticks := time.NewTicker(200 * time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticks.C:
				passed := min(time.Since(begin), expected-1)
				bar.SetCurrent(int64(passed))
				if show != nil {
					show(passed)
				}
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		bar.Abort(true)
		bar.Wait()
	}
}

// Counter shows on w how many of a total are done, and how long the rest will take at the
// pace so far. The bar is gone when done returns.
func Counter(w io.Writer, what string) (show func(n, total uint64), done func()) {
	bars := Bars(w)
	if bars == nil {
		return func(n, total uint64) {}, func() {}
	}
	bar := bars.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("%d/%d "+what+" ")),
		mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO), decor.Name(" left")),
	)
	show = func(n, total uint64) {
		bar.SetTotal(int64(total), false)
		bar.SetCurrent(int64(n))
	}
	return show, func() {
		bar.Abort(true)
		bars.Wait()
	}
}
