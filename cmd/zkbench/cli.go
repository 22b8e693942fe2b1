package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/workload"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1 // an operation, a check or a gate failed
	exitUsage   = 2 // wrong usage or input
	exitPartial = 3 // stopped before the end
)

// exitError ends the command with a code. An empty text says that the output
// already tells why.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }

// Main runs the command line args and returns its exit code. Errors are one line
// on stderr. An interrupt ends the run with what was measured.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, defs []workload.Def) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	root := rootCommand(stdin, stdout, stderr, defs)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitUsage
	if exit, ok := errors.AsType[*exitError](err); ok {
		code = exit.code
	}
	if text := strings.TrimSpace(err.Error()); text != "" {
		fmt.Fprintf(stderr, "zkbench: %s\n", strings.ReplaceAll(text, "\n", "; "))
	}
	return code
}

func rootCommand(stdin io.Reader, stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	root := &cobra.Command{
		Use:               "zkbench",
		Short:             "Build, load-test and compare zero-knowledge payment proofs",
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			var names []string
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name())
				}
			}
			return &workload.ValueError{Field: "command", Value: args[0], Accepted: strings.Join(names, ", ")}
		},
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(listCommand(stdout, defs), runCommand(stdout, stderr, defs), peersCommand(stdout, stderr, defs),
		execCaseCommand(stdin, stdout, defs), peerCommand(stdout, stderr, defs))
	return root
}

// flagError names the accepted flags where one is unknown.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	slices.Sort(names)
	accepted := strings.Join(names, ", ")
	return &workload.ValueError{Field: "flag", Value: "--" + unknown.GetSpecifiedName(), Accepted: accepted}
}
