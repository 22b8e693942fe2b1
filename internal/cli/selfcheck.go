package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/compare/selfcheck"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
	planted "github.com/zkbench/zkbench/internal/workload/selfcheck"
)

const selfCheck = "selfcheck"

// Default budgets of a session.
const (
	selfCheckBudget      = 30 * time.Second
	selfCheckQuickBudget = 10 * time.Second
)

// selfCheckCommand returns the command selfcheck, which runs sessions whose right answer is known.
// Its child process has a workload that the lists do not show.
func selfCheckCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   selfCheck,
		Short: "Check on this machine that compare finds planted changes (30-60 min)",
		Long: "Run sessions like those of compare --git with a workload of known cost: the same program\n" +
			"against itself, and with 3, 6 and 10 % more work on the new side. The exit code is 1 if the\n" +
			"answers are wrong more often than is allowed; docs/compare.md says how often that is.",
		Args: NoArguments,
	}
	flags := cmd.Flags()
	load := flags.Bool("load", false, "keep every processor busy half of the time")
	quick := flags.Bool("quick", false, "run five sessions in a minute, which can show only gross errors")
	asJSON := flags.Bool("json", false, "write the result as JSON")
	budget := argument.Define(flags, "budget", argument.KindTime, selfCheckBudget.String(), "a time from 0s up to 1h, for example 30s",
		"add processes to a session that is too noisy for its gate until this time has passed")
	budget.Default = selfCheckBudget.String() + ", with --quick " + selfCheckQuickBudget.String()
	out := argument.Define(flags, "out", argument.KindFile, "", "the path of a file, which is overwritten", "write the records of all sessions as JSON lines to this file (overwritten)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		child, err := ownProgram()
		if err != nil {
			return err
		}
		child.Args = []string{selfCheck, ExecCase}
		check := selfcheck.Check{Trials: selfcheck.Trials(*load, *quick), Load: *load, Run: child.Run, Log: stderr}
		if check.Budget, err = budget.Duration("budget", 0, time.Hour); err != nil {
			return err
		}
		if *quick && !budget.Given {
			check.Budget = selfCheckQuickBudget
		}
		if out.Given {
			file, err := os.Create(out.Text)
			if err != nil {
				return fmt.Errorf("out: %w", err)
			}
			defer file.Close()
			check.Keep = func(rec *record.Record) error { return record.Write(file, rec) }
		}
		write := (*selfcheck.Result).Text
		if *asJSON {
			write = (*selfcheck.Result).JSON
		}
		return checkSelf(cmd.Context(), &check, func(r *selfcheck.Result) error { return write(r, stdout) })
	}
	cmd.AddCommand(ExecCaseCommand(stdin, stdout, []workload.Def{planted.Def()}))
	return cmd
}

func checkSelf(ctx context.Context, check *selfcheck.Check, write func(*selfcheck.Result) error) error {
	result, err := check.Measure(ctx)
	if ctx.Err() != nil {
		return &ExitError{Code: ExitPartial, Text: fmt.Sprintf("interrupted in %v", err)}
	}
	if err == nil {
		err = write(result)
	}
	if err != nil {
		return &ExitError{Code: ExitFailed, Text: err.Error()}
	}
	if missed := result.Missed(); len(missed) > 0 {
		return &ExitError{Code: ExitFailed, Text: strings.Join(missed, "; ")}
	}
	return nil
}
