package cli

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// counter shows on stderr, if that is a terminal, how many of a total are done, and
// how long the rest will take at the pace so far. The bar is gone when done returns.
func counter(stderr io.Writer, what string) (show func(n, total uint64), done func()) {
	file, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func(n, total uint64) {}, func() {}
	}
	bars := mpb.New(mpb.WithOutput(file), mpb.WithWidth(30))
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
