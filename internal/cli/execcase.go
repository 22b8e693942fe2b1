package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/prover"
)

// ExecCase is the name of the command by which a child process runs a case.
const ExecCase = "exec-case"

// ExecCaseCommand returns the command that a child process runs. The command reads a job
// (measure.Job) from stdin, measures the job's case and writes a record to the place that the job
// names. If the job's field Spec is set, the case belongs to the prover that Spec describes.
// Otherwise the case belongs to one of the workloads defs.
func ExecCaseCommand(stdin io.Reader, stdout io.Writer, defs []workload.Def) *cobra.Command {
	return &cobra.Command{
		Use:    ExecCase,
		Short:  "Run one case: read a job as JSON from standard input, write its record as a JSON line where the job says",
		Hidden: true,
		Args:   NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return measure.Serve(cmd.Context(), stdin, stdout, finder(defs), func() { os.Exit(ExitPartial) })
		},
	}
}

// finder returns a function that finds a job's workload among defs, or builds it from the job's
// Spec.
func finder(defs []workload.Def) func(measure.Job) (workload.Def, error) {
	return func(job measure.Job) (workload.Def, error) {
		if job.Spec == nil {
			return workload.Find(defs, job.Workload)
		}
		spec, err := prover.Decode(job.Spec)
		if err != nil {
			return workload.Def{}, &zkbench.DecodeError{Path: "job.spec", Reason: err.Error()}
		}
		return spec.Def()
	}
}

// ownProgram returns this program as one that measures cases in child processes.
func ownProgram() (measure.Program, error) {
	self, err := os.Executable()
	if err != nil {
		return measure.Program{}, &ExitError{Code: ExitFailed, Text: err.Error()}
	}
	return measure.Program{Path: self, Args: []string{ExecCase}, Self: true}, nil
}
