// Package progress draws progress bars on a terminal. If there is no terminal, it draws
// nothing.
package progress

import (
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// Terminal reports whether w is a terminal.
func Terminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Bars returns a container that draws bars on w, or nil if w is not a terminal.
func Bars(w io.Writer) *mpb.Progress {
	if !Terminal(w) {
		return nil
	}
	return mpb.New(mpb.WithOutput(w), mpb.WithWidth(30))
}

// Timed adds a bar that fills while the expected time passes. After this time, the bar stays
// just short of full. Calling done removes the bar. If show is not nil, it is called with the
// time that the bar shows. Bars are shown in ascending order of the parameter place.
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

// Counter draws a bar on w that shows how many of a total number of things are done. The
// parameter what is a name for these things, for example "requests replayed". The bar also
// shows how long the rest will take at the rate so far. The function show updates the bar,
// and the function done removes it. Both do nothing if w is not a terminal.
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
