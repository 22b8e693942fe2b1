package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/compare/history"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/outdir"
	"github.com/zkbench/zkbench/internal/view/plot"
	"github.com/zkbench/zkbench/internal/view/text"
)

// Bounds of the level at which steps are found (see stat.Steps).
const (
	leastLevel = 0.005
	mostLevel  = 0.1
)

// historyFlags are the flags of history, as they were typed.
type historyFlags struct {
	metric, workload, caseWords, since, level, out, csv *argument.Option
	steps                                               bool
}

// historyCommand returns the command history.
func historyCommand(p *Program, stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history [path ...]",
		Short: "Show a metric over commits, and where it changed",
		Long: "Show a metric of each case over commits and dates, and where it changed in a step. Each\n" +
			"session of a build is one point, the median of its processes. Measurements from different\n" +
			"environments are never in one line. Steps are found by permutation tests.\n\n" +
			"A path is the folder of a suite, a folder of such folders, or a file of records. The default\n" +
			"is the working directory. Times are in UTC.",
		Args: cobra.ArbitraryArgs,
	}
	flags := cmd.Flags()
	levels := fmt.Sprintf("%g to %g", leastLevel, mostLevel)
	f := &historyFlags{
		metric:    argument.Define(flags, "metric", argument.KindText, record.Throughput.Name(), "a metric of the records", "the metric, for example latency-p95, allocs or \"stage prove\""),
		workload:  argument.Define(flags, "workload", argument.KindList, "", "workloads of the records", "show only these workloads"),
		caseWords: argument.Define(flags, "case", argument.KindText, "", "key=value ...", "show only cases with these values, for example \"curve=BN254 bits=32\""),
		since:     argument.Define(flags, "since", argument.KindText, "", "a date, 2006-01-02", "show only sessions from this date on, for example 2006-01-02"),
		level:     argument.Define(flags, "level", argument.KindNumber, "0.01", levels, "probability of finding a step in a line that has none: "+levels),
		out:       argument.Define(flags, "out", argument.KindFile, "", "the path of a directory", "write "+historyFile+" and a chart of each line, as SVG, to this directory"),
		csv:       argument.Define(flags, "csv", argument.KindFile, "", "the path of a file, which is overwritten", "write a row for each point to this file (overwritten)"),
	}
	flags.BoolVar(&f.steps, "steps", false, "print only the steps, one in each row, and write files only for lines with a step")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		query, err := f.query()
		if err != nil {
			return err
		}
		if len(args) == 0 {
			args = []string{"."}
		}
		recs, notes, err := history.Load(args)
		if err != nil {
			return err
		}
		lines, err := query.Lines(recs)
		if err != nil {
			return err
		}
		shown := lines
		if f.steps {
			shown = history.WithSteps(lines)
		}
		if err := f.files(lines, shown, query.Level); err != nil {
			return err
		}
		for _, note := range notes {
			fmt.Fprintln(cmd.ErrOrStderr(), p.Name+": "+note)
		}
		style := styleOf(stdout)
		text := history.Text
		if f.steps {
			text = history.StepTable
		}
		err = history.Summary(stdout, style, lines, query.Level)
		if err = errors.Join(err, text(stdout, style, shown)); err != nil {
			return &ExitError{Code: ExitFailed, Text: err.Error()}
		}
		return nil
	}
	return cmd
}

// query returns what the flags ask for.
func (f *historyFlags) query() (history.Query, error) {
	q := history.Query{Metric: f.metric.Text}
	if f.workload.Given {
		for name := range strings.SplitSeq(f.workload.Text, ",") {
			q.Workloads = append(q.Workloads, strings.TrimSpace(name))
		}
	}
	words := strings.FieldsFunc(f.caseWords.Text, func(r rune) bool { return r == ' ' || r == ',' || r == '/' })
	if f.caseWords.Given && len(words) == 0 {
		return q, f.caseWords.Refuse("case", f.caseWords.Text)
	}
	for _, word := range words {
		key, value, found := strings.Cut(word, "=")
		if !found || key == "" || value == "" {
			return q, f.caseWords.Refuse("case", word)
		}
		q.Case = append(q.Case, record.Axis{Key: key, Value: value})
	}
	var err error
	if f.since.Given {
		if q.Since, err = time.Parse(time.DateOnly, f.since.Text); err != nil {
			return q, f.since.Refuse("since", f.since.Text)
		}
	}
	q.Level, err = strconv.ParseFloat(f.level.Text, 64)
	if err != nil || !(q.Level >= leastLevel && q.Level <= mostLevel) {
		return q, f.level.Refuse("level", f.level.Text)
	}
	return q, nil
}

// historyFile is the page that is written beside the charts.
const historyFile = "history.html"

// files writes the rows, the charts and the page that the flags ask for. They show lines, which are some or all of the
// lines of the query; level is that of their steps.
func (f *historyFlags) files(all, lines []history.Line, level float64) error {
	if f.csv.Given {
		var b bytes.Buffer
		err := history.CSV(&b, lines)
		if err = errors.Join(err, os.WriteFile(f.csv.Text, b.Bytes(), 0o644)); err != nil {
			return fmt.Errorf("csv: %w", err)
		}
	}
	if !f.out.Given {
		return nil
	}
	if err := os.MkdirAll(f.out.Text, 0o755); err != nil {
		return fmt.Errorf("out: %w", err)
	}
	taken := make(map[string]int) // in lower case: some file systems ignore case
	for i := range lines {
		l := &lines[i]
		name := text.FileName(strings.Trim(l.Metric+" "+record.WorkloadID(l.Workload)+" "+l.Case, " "))
		key := strings.ToLower(name)
		if taken[key]++; taken[key] > 1 { // another environment
			name = fmt.Sprintf("%s-%d", name, taken[key])
		}
		if err := outdir.View(f.out.Text, name+".svg", func(w io.Writer) error { return plot.Write(w, plot.SVG, l.Chart()) }); err != nil {
			return err
		}
	}
	return outdir.View(f.out.Text, historyFile, func(w io.Writer) error { return history.Page(w, all, lines, level) })
}
