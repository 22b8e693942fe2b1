package cli

import (
	"crypto/rand"
	"io"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/report"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// stagesCommand goes through the stages of circuits, once a process.
func stagesCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stages workload ...",
		Short: "Go through the stages of circuits: build, reference string, keys, witness, prove, verify; time, memory and sizes of each",
		Args:  cobra.ArbitraryArgs,
	}
	f := jobs.NewStagesFlags(cmd.Flags(), defs)
	cmd.Long = "Go through the stages of circuits, each case once in a process of its own: time, greatest\n" +
		"memory, allocation and sizes of each stage. Axes that are not named take one small value.\n" +
		"Workloads: " + f.IDs + "."
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plan, err := f.Plan(args)
		if err != nil {
			return err
		}
		r, err := newReporter(stdout, &usage.Option{}, f.JSON)
		if err != nil {
			return err
		}
		defer r.close()
		session := rand.Text()
		err = measureEach(cmd.Context(), stderr, plan.Jobs, plan.Processes, func(round int, rec *record.Record) error {
			rec.Process = record.Process{Session: session, Index: round}
			if err := r.keep(rec); err != nil {
				return err
			}
			return report.Stages(stdout, rec)
		})
		if err != nil {
			return err
		}
		return verdict(cmd.Context(), r.recs, len(plan.Jobs)*plan.Processes)
	}
	return cmd
}
