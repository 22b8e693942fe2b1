package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/proc"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/workload"
)

// studyCommand reproduces public studies.
func studyCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "study token",
		Short: "Reproduce a public study: measure its cases, and write a page with tables and charts",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.AddCommand(studyTokenCommand(stdout, stderr, defs))
	return cmd
}

const (
	studyPage     = "token.md"
	studyOut      = "study-token"
	studyRounds   = 3
	acceptedStudy = "the path of a directory without records"
)

func studyTokenCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Confidential transfers beside Panurus' published figures",
		Long: "Confidential transfers beside Panurus' published figures, in units of one scalar\n" +
			"multiplication measured in the same run. Each case runs in a process of its own. Parts:\n" +
			"  panurus  two inputs, two outputs, one thread, every workload, in interleaved rounds\n" +
			"  matrix   proofs x curves x bits x inputs x outputs x executors\n" +
			"  sample   the load test that Panurus' documentation prints\n" +
			"The records go to records.jsonl as they come, the page to " + studyPage + ", its charts beside it.",
		Args: noArguments,
	}
	flags := cmd.Flags()
	out := defineOption(flags, "out", kindFile, studyOut, acceptedStudy, "directory of records, page and charts: "+acceptedStudy)
	from := defineOption(flags, "from", kindFile, "", "the directory of a study that was measured", "write page and charts of these records again, measure nothing")
	only := defineOption(flags, "only", kindList, strings.Join(study.Parts(), ","), strings.Join(study.Parts(), ", "), "parts: "+strings.Join(study.Parts(), ", "))
	rounds := defineOption(flags, "rounds", kindNumber, strconv.Itoa(studyRounds), "1 to 100", "rounds of the part panurus: 1 to 100")
	quick := flags.Bool("quick", false, "few cases and short windows, one round")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if from.given {
			for _, other := range []string{"out", "only", "rounds", "quick"} {
				if flags.Changed(other) {
					return &workload.ValueError{Field: "flag beside --from", Value: "--" + other, Accepted: "none"}
				}
			}
			return rebuildStudy(stdout, from.text)
		}
		o := study.Options{Parts: strings.Split(only.text, ","), Workers: runtime.GOMAXPROCS(0), Quick: *quick}
		for _, part := range o.Parts {
			if !slices.Contains(study.Parts(), part) {
				return only.refuse("only", part)
			}
		}
		n, err := rounds.number("rounds", 1, 100)
		if err != nil {
			return err
		}
		if o.Rounds = int(n); *quick && !rounds.given {
			o.Rounds = 1
		}
		self, err := os.Executable()
		if err != nil {
			return &exitError{code: exitFailed, text: err.Error()}
		}
		run := func(ctx context.Context, job study.Job) *record.Record {
			return proc.Command{Path: self, Args: []string{execCase}}.Run(ctx, job.Job)
		}
		return runStudy(cmd.Context(), stdout, stderr, out.text, o, defs, run)
	}
	return cmd
}

// runStudy measures a study, each job with run, and writes its page. An interrupt ends
// it with what was measured.
func runStudy(ctx context.Context, stdout, stderr io.Writer, dir string, o study.Options, defs []workload.Def,
	run func(context.Context, study.Job) *record.Record,
) (err error) {
	jobs, missing := study.Plan(slices.Concat(defs, []workload.Def{study.Yardstick()}), o)
	out, err := newOutput(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.close()) }()
	if len(missing) > 0 {
		fmt.Fprintf(stdout, "not measured, for want of the workload: %s\n", strings.Join(missing, ", "))
	}
	var expected time.Duration
	for i := range jobs {
		expected += jobs[i].Expected()
	}
	fmt.Fprintf(stdout, "%d processes, about %v\n", len(jobs), expected.Round(time.Second))

	recs, err := measureStudy(ctx, stderr, out, jobs, run)
	if err != nil {
		return &exitError{code: exitFailed, text: err.Error()}
	}
	if err := writeStudy(stdout, dir, recs); err != nil {
		return &exitError{code: exitFailed, text: err.Error()}
	}
	return verdict(ctx, recs, len(jobs))
}

// measureStudy runs the jobs and keeps their records, until ctx ends.
func measureStudy(ctx context.Context, stderr io.Writer, out *output, jobs []study.Job, run func(context.Context, study.Job) *record.Record) (recs []*record.Record, err error) {
	session := rand.Text()
	show, done := counter(stderr, "processes")
	defer done()
	for i, job := range jobs {
		if ctx.Err() != nil {
			break
		}
		show(uint64(i), uint64(len(jobs)))
		rec := run(ctx, job)
		rec.Process = job.Place(session)
		if err := out.records.Write(rec); err != nil {
			return recs, err
		}
		recs = append(recs, rec)
	}
	return recs, nil
}

// rebuildStudy writes page and charts of the records in a directory.
func rebuildStudy(stdout io.Writer, dir string) error {
	file, err := os.Open(filepath.Join(dir, recordsFile))
	if err != nil {
		return fmt.Errorf("from: %w", err)
	}
	recs, err := record.ReadAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	return writeStudy(stdout, dir, recs)
}

// writeStudy writes the page and the charts of records, and says where.
func writeStudy(stdout io.Writer, dir string, recs []*record.Record) error {
	charts, err := study.Charts(recs)
	if err != nil {
		return err
	}
	for _, c := range charts {
		if err := view(dir, c.File, c.Write); err != nil {
			return err
		}
	}
	if err := view(dir, studyPage, func(w io.Writer) error { return study.Page(w, recs) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %d records, %d charts\n", filepath.Join(dir, studyPage), len(recs), len(charts))
	return err
}
