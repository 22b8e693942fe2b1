package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/zkbench/zkbench/internal/measure"
)

// progress shows on stderr, if that is a terminal, how far case i of n has come:
// the time that has passed of warm-up and window. The bar is gone when done
// returns, so that it never mixes with the output.
func progress(stderr io.Writer, i, n int, job measure.Job) (done func()) {
	file, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	expected := job.Settings.Warmup.Time + job.Settings.Duration
	bars := mpb.New(mpb.WithOutput(file), mpb.WithWidth(30))
	bar := bars.AddBar(int64(expected),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(fmt.Sprintf("%d/%d ", i+1, n))),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO), decor.Name(" "+caption(job))),
	)
	// Set-up and checks come on top of the expected time, so the bar stays short of its
	// end until the case is over.
	stop := every(200*time.Millisecond, func(passed time.Duration) { bar.SetCurrent(min(int64(passed), int64(expected)-1)) })
	return func() {
		stop()
		bar.Abort(true)
		bars.Wait()
	}
}

// caption names what runs. The case stands last: a narrow terminal cuts it off.
func caption(job measure.Job) string {
	workers := "1 worker"
	if n := job.Settings.Workers; n != 1 {
		workers = fmt.Sprintf("%d workers", n)
	}
	return fmt.Sprintf("%s, %s, %s", job.Workload, workers, job.Case)
}
