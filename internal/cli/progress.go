package cli

import (
	"fmt"
	"io"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/progress"
)

// caseBar shows on stderr how far case i of n has come: the time that has passed of
// warm-up and window. Set-up and checks come on top of it. The bar is gone when done
// returns, so that it never mixes with the output.
func caseBar(stderr io.Writer, i, n int, job measure.Job) (done func()) {
	bars := progress.Bars(stderr)
	if bars == nil {
		return func() {}
	}
	stop := progress.Timed(bars, fmt.Sprintf("%d/%d", i+1, n), job.Caption(), job.Settings.Warmup.Time+job.Settings.Duration, nil)
	return func() {
		stop()
		bars.Wait()
	}
}
