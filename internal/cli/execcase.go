package cli

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/workload"
)

const execCase = "exec-case"

// execCaseCommand is the child's side of run.
func execCaseCommand(stdin io.Reader, stdout io.Writer, defs []workload.Def) *cobra.Command {
	return &cobra.Command{
		Use:    execCase,
		Short:  "Run one case: a job as JSON on standard input, its record as a JSON line on standard output",
		Hidden: true,
		Args:   noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := append(workload.WithMix(defs), studyDefs()...)
			return measure.Serve(cmd.Context(), stdin, stdout, all, func() { os.Exit(exitPartial) })
		},
	}
}

// ownProgram is this program, as one that measures a case in a process of its own.
func ownProgram() (measure.Program, error) {
	self, err := os.Executable()
	if err != nil {
		return measure.Program{}, &exitError{code: exitFailed, text: err.Error()}
	}
	return measure.Program{Path: self, Args: []string{execCase}}, nil
}
