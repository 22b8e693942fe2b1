package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/stat"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/selfcheck"
)

const selfCheck = "selfcheck"

// selfCheckCommand measures the measuring: sessions of which the right answer is
// known. Its own child has the workload that the lists do not show.
func selfCheckCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   selfCheck,
		Short: "Show on this machine that comparisons find what is planted and nothing else (minutes)",
		Long: "Run sessions like those of compare --git with a workload of known cost: the same program\n" +
			"against itself, and with 3 % and 6 % more work on the new side. Exit code 1 where verdicts\n" +
			"are wrong more often than they may be.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			child, err := ownProgram()
			if err != nil {
				return err
			}
			child.Args = []string{selfCheck, execCase}
			return checkSelf(cmd.Context(), stdout, stderr, selfCheckTrials(), child.Run)
		},
	}
	cmd.AddCommand(execCaseCommand(stdin, stdout, []workload.Def{selfcheck.Def()}))
	return cmd
}

// A session of selfcheck: short, because there are many.
const (
	selfCheckBlocks   = 30
	selfCheckDuration = 80 * time.Millisecond
	selfCheckGate     = 0.03
	plainWork         = 1000
)

// trial is a number of sessions with the same planted change, and how many of
// them may or must give an answer.
type trial struct {
	name        string
	work        int // of the new side; the old side's is plainWork
	sessions    int
	least, most int // sessions that answer
	answer      string
	answers     func(*compare.Table) bool
}

func selfCheckTrials() []trial {
	return []trial{
		{"A/A", plainWork, 40, 0, 3, "with a false verdict", func(t *compare.Table) bool {
			return slices.ContainsFunc(gated(t), func(r compare.Row) bool { return r.Verdict != compare.Same })
		}},
		{"planted 3 %", 1030, 10, 9, 10, "slower", func(t *compare.Table) bool {
			return slices.ContainsFunc(gated(t), func(r compare.Row) bool { return r.Verdict == compare.Slower }) &&
				!slices.ContainsFunc(gated(t), func(r compare.Row) bool { return r.Verdict == compare.Faster })
		}},
		{"planted 6 %", 1060, 10, 9, 10, "beyond the gate of 3 %", func(t *compare.Table) bool {
			return slices.ContainsFunc(gated(t), func(r compare.Row) bool { return r.Tripped })
		}},
	}
}

// gated are the rows that a gate judges: what a user takes a verdict from.
func gated(t *compare.Table) []compare.Row {
	return slices.DeleteFunc(slices.Clone(t.Rows), func(r compare.Row) bool {
		return r.Metric != record.LatencyMean.Name() && r.Metric != record.LatencyP50.Name() && r.Metric != record.Throughput.Name()
	})
}

func medianLatency(t *compare.Table) compare.Row {
	for _, r := range t.Rows {
		if r.Metric == record.LatencyP50.Name() {
			return r
		}
	}
	return compare.Row{}
}

// checkSelf runs the trials; run is what runs one process.
func checkSelf(ctx context.Context, stdout, stderr io.Writer, trials []trial, run func(context.Context, measure.Job) *record.Record) error {
	var spreads []float64
	var missed []string
	fmt.Fprintf(stdout, "%d blocks of 3 processes a session, windows of %v, intervals at %g %%\n",
		selfCheckBlocks, selfCheckDuration, 100*compare.Confidence)
	for _, tr := range trials {
		count := 0
		for i := range tr.sessions {
			recs, table, err := plantedSession(ctx, tr.work, run)
			if ctx.Err() != nil {
				return &exitError{code: exitPartial, text: fmt.Sprintf("interrupted in session %d of %d of %s", i+1, tr.sessions, tr.name)}
			}
			if err != nil {
				return &exitError{code: exitFailed, text: fmt.Sprintf("%s: %v", tr.name, err)}
			}
			spreads = append(spreads, spread(recs))
			answer := "-"
			if tr.answers(table) {
				count++
				answer = tr.answer
			}
			row := medianLatency(table)
			fmt.Fprintf(stderr, "%s %d/%d: %+.2f %% (%+.2f to %+.2f), floor %.2f %%: %s\n", tr.name, i+1, tr.sessions,
				100*row.Change, 100*row.Low, 100*row.High, 100*row.Floor, answer)
		}
		bound := fmt.Sprintf("at least %d", tr.least)
		if tr.least == 0 {
			bound = fmt.Sprintf("at most %d", tr.most)
		}
		if count < tr.least || count > tr.most {
			missed = append(missed, fmt.Sprintf("%s: %d of %d %s, %s needed", tr.name, count, tr.sessions, tr.answer, bound))
		}
		fmt.Fprintf(stdout, "%-12s %2d of %d %s (%s)\n", tr.name, count, tr.sessions, tr.answer, bound)
	}
	fmt.Fprintf(stdout, "between processes of one program: standard deviation %.2f %% (median of %d sessions; %.2f to %.2f)\n",
		100*stat.Median(spreads), len(spreads), 100*slices.Min(spreads), 100*slices.Max(spreads))
	if len(missed) > 0 {
		return &exitError{code: exitFailed, text: strings.Join(missed, "; ")}
	}
	return nil
}

// plantedSession runs and judges a session as compare --git does, its new side
// with another amount of work under the old one's name.
func plantedSession(ctx context.Context, work int, run func(context.Context, measure.Job) *record.Record) ([]*record.Record, *compare.Table, error) {
	plain, planted := selfCheckJob(plainWork), selfCheckJob(work)
	session := compare.Session{
		Run: func(ctx context.Context, side stat.Side) *record.Record {
			if side != stat.New {
				return run(ctx, plain)
			}
			rec := run(ctx, planted)
			c := plain.Case.With(measure.WorkersAxis().Key, strconv.Itoa(plain.Settings.Workers))
			rec.Case, rec.Axes = c.String(), c.Axes()
			return rec
		},
	}
	recs, err := session.Measure(ctx, selfCheckBlocks)
	if err != nil {
		return nil, nil, err
	}
	sides, err := compare.Split(selfCheck, recs)
	if err != nil {
		return nil, nil, err
	}
	table, err := compare.Compare(sides, false)
	if err != nil {
		return nil, nil, err
	}
	_, err = compare.Gate{Limit: selfCheckGate}.Apply(table)
	return recs, table, err
}

func selfCheckJob(work int) measure.Job {
	c := workload.NewCase(record.Axis{Key: selfcheck.AxisKey, Value: strconv.Itoa(work)})
	return compare.NewJob(selfcheck.Def().Name, c, 1, selfCheckDuration)
}

// spread is the relative standard deviation of the mean latency over the old
// program's processes.
func spread(recs []*record.Record) float64 {
	var logs []float64
	for _, rec := range recs {
		if rec.Process.Side != string(stat.New) {
			logs = append(logs, math.Log(rec.Value(record.LatencyMean)))
		}
	}
	return stat.Deviation(logs)
}
