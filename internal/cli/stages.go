package cli

import (
	"crypto/rand"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/text"
)

// stagesCommand returns the command stages, which runs each stage of a circuit once in each
// process.
func stagesCommand(p *Program, stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stages workload ...",
		Short: "Measure each stage of a circuit: build, keys, prove, verify",
		Args:  cobra.ArbitraryArgs,
	}
	f := jobs.NewStagesFlags(cmd.Flags(), p.Defs())
	cmd.Long = "Run each stage of a circuit once, each case in a process of its own. The output has the time,\n" +
		"peak memory, allocations and sizes of each stage; for several cases only the times, one line each.\n" +
		"On more than one processor, the executor without a flag is pool, which uses all of them.\n" +
		"Workloads: " + f.IDs + "."
	verbose := cmd.Flags().BoolP("verbose", "v", false, "print the full report of each case, even if there are several")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plan, err := f.Plan(args)
		if err != nil {
			return err
		}
		r, err := newReporter(stdout, &argument.Option{}, f.JSON)
		if err != nil {
			return err
		}
		defer r.close()
		if len(plan.Jobs) > 1 {
			fmt.Fprintln(stdout, plan.Summary())
		}
		err = measureEach(cmd.Context(), stderr, plan.Jobs, plan.Processes, rand.Text(), func(rec *record.Record) error {
			if err := r.keep(rec); err != nil || !*verbose && (len(plan.Jobs) > 1 || plan.Predicted) {
				return err
			}
			return text.Stages(stdout, rec)
		})
		if err != nil {
			return err
		}
		switch {
		case plan.Predicted:
			if err := r.predictions(); err != nil {
				return &ExitError{Code: ExitFailed, Text: err.Error()}
			}
		case !*verbose && len(plan.Jobs) > 1:
			if err := r.table(); err != nil {
				return &ExitError{Code: ExitFailed, Text: err.Error()}
			}
		}
		return Verdict(cmd.Context(), r.recs, len(plan.Jobs)*plan.Processes)
	}
	return cmd
}
