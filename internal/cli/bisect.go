package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/format"
)

// bisectBudget is the default time that a step may take after its first blocks.
const bisectBudget = 5 * time.Minute

func bisectCommand(p *Program, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bisect GOOD..BAD WORKLOAD",
		Short: "Find the commit that made a workload worse",
		Long: "Find the first commit between GOOD and BAD that made a workload worse. Each step compares a\n" +
			"commit with GOOD, as compare --git does, and halves the range. A commit counts as worse if\n" +
			"its change is more than half of the whole change. If the machine is too noisy to decide, the\n" +
			"exit code is 3, and the commits that are left are listed.",
		Args: cobra.ArbitraryArgs,
	}
	flags, defs := cmd.Flags(), p.Defs()
	metric := argument.Define(flags, "metric", argument.KindText, "p50", "a metric of compare's table, for example p50, throughput, allocs or field-multiplications",
		"metric that became worse, from compare's table, for example p50, throughput, allocs or field-multiplications")
	gate := argument.Define(flags, "gate", argument.KindText, "3%", compare.GateAccepted, "minimum change for the worse that BAD must show")
	budget := argument.Define(flags, "budget", argument.KindTime, bisectBudget.String(), fmt.Sprintf("a time from 0s up to %v, for example 10m", longestBudget),
		"add processes to a step until it can be judged or this time has passed")
	processes := argument.Define(flags, "processes", argument.KindNumber, fmt.Sprint(sessionProcesses), fmt.Sprintf("1 to %d", jobs.MaxProcesses), "minimum number of processes on each side of a step")
	axes := jobs.DefineAxes(flags, defs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 {
			return &argument.ValueError{Field: "arguments of bisect", Value: fmt.Sprint(args), Accepted: "GOOD..BAD and one workload that list names"}
		}
		b := compare.Bisection{Main: p.source(), Metric: metric.Text, Args: []string{ExecCase}, Log: stderr}
		var err error
		if b.Good, b.Bad, err = compare.ParseRange(args[0]); err != nil {
			return err
		}
		if b.Limit, err = compare.ParseLimit(gate.Text); err != nil {
			return err
		}
		if b.Budget, err = budget.Duration("budget", 0, longestBudget); err != nil {
			return err
		}
		n, err := processes.Number("processes", 1, jobs.MaxProcesses)
		if err != nil {
			return err
		}
		b.Blocks = int(n)
		plans, err := jobs.SmallPlans(defs, args[1:], jobs.TypedAxes(axes))
		if err == nil {
			err = ownPlans(plans)
		}
		if err != nil {
			return err
		}
		if cases := plans[0].Cases; len(cases) != 1 {
			return &argument.ValueError{Field: "axes of bisect", Value: fmt.Sprintf("%d cases", len(cases)), Accepted: "one value each"}
		}
		b.Job = compare.NewJob(plans[0].Def.Name, plans[0].Cases[0], 1, sessionDuration)
		fmt.Fprintf(stdout, "%s of %s/%s, against %s\n", b.Metric, b.Job.Workload, b.Job.Case, b.Good)
		found, err := b.Find(cmd.Context(), func(s compare.Step) { fmt.Fprintln(stdout, s) })
		if cmd.Context().Err() != nil {
			return &ExitError{Code: ExitPartial, Text: "interrupted"}
		}
		if _, failed := errors.AsType[*compare.FailedError](err); failed {
			return &ExitError{Code: ExitFailed, Text: err.Error()}
		}
		if err != nil {
			return err
		}
		return bisected(stdout, found)
	}
	return cmd
}

// bisected writes the result of the bisection. It returns an error if more than one commit is left.
func bisected(w io.Writer, f *compare.Found) error {
	if len(f.First) == 1 && f.Unseen == "" {
		_, err := fmt.Fprintf(w, "%s made it worse, %s in all\n", f.First[0], format.Change(f.Change))
		return err
	}
	for _, c := range f.First {
		fmt.Fprintln(w, "left: "+c.String())
	}
	return &ExitError{Code: ExitPartial, Text: f.Unseen}
}
