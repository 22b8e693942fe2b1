package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/internal/view/charts"
	"github.com/zkbench/zkbench/internal/view/outdir"
	"github.com/zkbench/zkbench/internal/view/page"
	"github.com/zkbench/zkbench/internal/view/plot"
	"github.com/zkbench/zkbench/internal/view/text"
	"github.com/zkbench/zkbench/internal/workload"
)

// The files that are written beside records.
const (
	benchFile = "bench.txt"
	plotsDir  = "plots" // directory of the plots as SVG
)

const (
	acceptedDirs   = "directories with records: of a suite, a study or run --out"
	acceptedListen = "a port of this machine, host:port with localhost, 127.0.0.1 or [::1]"
)

// reportCommand returns the command report.
func reportCommand(p *Program, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report DIR ...",
		Short: "Write a report (HTML, PDF, SVG) from result directories",
		Long: "Write " + suite.PageFile + " from the records of directories. The page is one file and opens without a\n" +
			"network. A directory holds the records of a suite, a study or run --out.\n" +
			"With --pdf: write " + suite.PlotsFile + ", the same plots as SVG, and the tables, into each directory.\n" +
			"With --serve: serve the page of one directory to a browser, updated while its suite runs.",
		Args: cobra.ArbitraryArgs,
	}
	flags := cmd.Flags()
	out := argument.Define(flags, "out", argument.KindFile, "", "the path of a file", "file of the page (default "+suite.PageFile+" in the first directory)")
	pdf := flags.Bool("pdf", false, "write "+suite.PlotsFile+", "+plotsDir+"/*.svg and the tables into each directory, and no page")
	serve := flags.Bool("serve", false, "serve the page on this machine until interrupted")
	listen := argument.Define(flags, "listen", argument.KindText, "localhost:0", acceptedListen, "with --serve: "+acceptedListen+" (port 0: any free port)")
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		switch {
		case len(dirs) == 0:
			return &argument.ValueError{Field: "directories", Value: "", Accepted: acceptedDirs}
		case *pdf && (*serve || out.Given):
			return errors.New("--pdf cannot be combined with --serve or --out")
		case *serve && (out.Given || len(dirs) > 1):
			return errors.New("--serve needs exactly one directory, and no --out")
		case listen.Given && !*serve:
			return errors.New("--listen needs --serve")
		case *serve:
			return serveReport(cmd.Context(), stdout, stderr, listen, dirs[0], p)
		case *pdf:
			files := []string{suite.PlotsFile, benchFile}
			for _, t := range p.Tables {
				files = append(files, t.File)
			}
			for _, dir := range dirs {
				recs, err := readDir(stderr, dir)
				if err == nil {
					err = errors.Join(writeTables(p, dir, recs), writePlots(p, stderr, dir, recs, headlineOf(dir), false))
				}
				if err != nil {
					return err
				}
				fmt.Fprintf(stdout, "%s: %d records, %s\n", dir, len(recs), strings.Join(suite.Existing(dir, files...), ", "))
			}
			return nil
		}
		data, err := readAll(stderr, dirs, p)
		if err != nil {
			return err
		}
		path := filepath.Join(dirs[0], suite.PageFile)
		if out.Given {
			path = out.Text
		}
		if err := writePage(path, data); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s\n%s: %d records\n", page.Sentence(data), path, len(data.Records))
		return nil
	}
	return cmd
}

// readDir returns the records of a directory.
func readDir(stderr io.Writer, dir string) ([]*record.Record, error) {
	recs, cut, err := suite.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	if cut {
		fmt.Fprintf(stderr, "%s: the last record is cut off, and is left out\n", filepath.Join(dir, suite.RecordsFile))
	}
	recs, predicted := record.Measured(recs)
	if predicted > 0 {
		fmt.Fprintf(stderr, "%s: %s with predicted times are left out\n", filepath.Join(dir, suite.RecordsFile), format.Plural(predicted, "record"))
	}
	if len(recs) == 0 {
		return nil, &argument.ValueError{Field: "directory", Value: dir, Accepted: acceptedDirs + "; this one has none yet"}
	}
	return recs, nil
}

// pageData returns a page of records, which begins with the case that headline chooses. For each record it has the settings and, if the program has
// the workload, the command that measures it again.
func pageData(p *Program, title string, recs []*record.Record, headline *record.Headline) page.Data {
	defs := p.Defs()
	return page.Data{
		Title: title, Records: recs, Settings: jobs.Words, Headline: headline,
		Command: func(r *record.Record) string { return jobs.Command(p.Name, defs, r) },
		Phrase: func(name string, axes record.Axes) string {
			def, err := workload.Find(defs, name)
			if err != nil { // not one of this program's
				def = workload.Def{Name: name}
			}
			return def.Phrase(axes)
		},
	}
}

// headlineOf returns the choice of the suite in a directory of the case that its report begins with, or nil if there is
// none.
func headlineOf(dir string) *record.Headline {
	s, err := suite.ReadStatus(dir)
	if err != nil { // not the directory of a suite
		return nil
	}
	return s.Headline
}

// readAll returns the page of the records of several directories. A record that two of them have
// counts once.
func readAll(stderr io.Writer, dirs []string, p *Program) (page.Data, error) {
	var all []*record.Record
	seen := make(map[string]bool)
	var names []string
	var headline *record.Headline
	for _, dir := range dirs {
		recs, err := readDir(stderr, dir)
		if err != nil {
			return page.Data{}, err
		}
		for _, r := range recs {
			if !seen[r.ID] {
				all = append(all, r)
			}
			seen[r.ID] = true
		}
		names = append(names, filepath.Base(filepath.Clean(dir)))
		headline = cmp.Or(headline, headlineOf(dir))
	}
	return pageData(p, strings.Join(names, ", "), all, headline), nil
}

// writeViews writes the views of the records into a folder, except the plots.
func writeViews(p *Program, dir string, d page.Data) error {
	return errors.Join(writeTables(p, dir, d.Records), writePage(filepath.Join(dir, suite.PageFile), d))
}

func writePage(path string, d page.Data) error {
	var b bytes.Buffer
	if err := page.Write(&b, d); err != nil {
		return err
	}
	return atomicfile.Write(path, b.Bytes())
}

// writeTables writes the records in the form of go test -bench, and the program's own tables of them.
func writeTables(p *Program, dir string, recs []*record.Record) error {
	errs := []error{
		outdir.View(dir, benchFile, func(w io.Writer) error {
			for _, r := range recs {
				if r.Status != record.OK { // no figure of what was stopped or failed is one of the case
					continue
				}
				if err := text.Benchmark(w, r); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	for _, t := range p.Tables {
		errs = append(errs, outdir.View(dir, t.File, func(w io.Writer) error { return t.Write(w, recs) }))
	}
	return errors.Join(errs...)
}

// mostPlots is the maximum number of plots that a suite writes. Nobody looks at more, and they take
// minutes.
const mostPlots = 100

// writePlots writes the plots, all in one PDF and each as SVG. The plots of the workload that headline chooses come
// first. If few is set, it writes at most mostPlots and says so.
func writePlots(p *Program, stderr io.Writer, dir string, recs []*record.Record, headline *record.Headline, few bool) error {
	if headline != nil {
		rank := func(r *record.Record) int {
			if r.Workload == headline.Workload {
				return 0
			}
			return 1
		}
		recs = slices.SortedStableFunc(slices.Values(recs), func(a, b *record.Record) int { return rank(a) - rank(b) })
	}
	all, err := charts.All(recs, p.Grids...)
	if err != nil {
		return err
	}
	if few {
		var left int
		if all, left = charts.Few(all, mostPlots); left > 0 {
			fmt.Fprintf(stderr, "%d plots, the first of each workload; for the other %d: %s report --pdf %s\n", len(all), left, p.Name, argument.Quote(dir))
		}
	}
	return drawPlots(dir, all)
}

func drawPlots(dir string, all []charts.Chart) error {
	plots := filepath.Join(dir, plotsDir)
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(plots, "chart-*.svg"))
	for _, c := range all {
		file := c.File + ".svg"
		old = slices.DeleteFunc(old, func(path string) bool { return filepath.Base(path) == file })
		err = errors.Join(err, outdir.View(plots, file, func(w io.Writer) error { return plot.Write(w, plot.SVG, c.Figure) }))
	}
	for _, path := range old { // plots of records that the directory had before
		err = errors.Join(err, os.Remove(path))
	}
	return errors.Join(err, outdir.View(dir, suite.PlotsFile, func(w io.Writer) error { return charts.PDF(w, all) }))
}

// folderPage returns the page of a directory's current records, with the progress of its suite
// unless that has ended.
func folderPage(dir string, p *Program) (page.Data, error) {
	recs, _, err := suite.ReadFolder(dir)
	d := pageData(p, filepath.Base(filepath.Clean(dir)), recs, headlineOf(dir))
	if s, err := suite.ReadStatus(dir); err == nil && s.Done < s.Planned {
		d.Progress = &page.Progress{Done: s.Done, Planned: s.Planned, Failed: s.Failed, Refused: s.Refused, Running: s.Running, Left: s.Left.Seconds(), Stopped: s.Stopped}
	}
	return d, err
}

// serveReport serves the page of a directory until ctx ends.
func serveReport(ctx context.Context, stdout, stderr io.Writer, listen *argument.Option, dir string, p *Program) error {
	host, _, err := net.SplitHostPort(listen.Text)
	if err != nil || !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, host) {
		return listen.Refuse("listen", listen.Text)
	}
	read := func() (page.Data, error) { return folderPage(dir, p) }
	if _, err := read(); err != nil {
		return err
	}
	socket, err := net.Listen("tcp", listen.Text)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintf(stdout, "http://%s/ (Ctrl-C ends it)\n", socket.Addr())
	server := &http.Server{Handler: page.Handler(read), ReadHeaderTimeout: 10 * time.Second, ErrorLog: nil}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(socket) }()
	select {
	case err := <-failed:
		return &ExitError{Code: ExitFailed, Text: err.Error()}
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = server.Shutdown(ending) // requests that are still open after a second are dropped
	return nil
}
