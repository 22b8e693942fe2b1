// Package cli is the command line: the commands of zkbench, their flags and their output.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/suite"
	"github.com/zkbench/zkbench/internal/usage"
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
// on stderr, those of a suite's file one each. An interrupt ends the run with what was measured.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, defs []workload.Def) int {
	return execute(rootCommand(stdin, stdout, stderr, defs), args, stdout, stderr)
}

// execute runs the command of a program.
func execute(root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once

	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	text := strings.TrimSpace(err.Error())
	if _, ok := errors.AsType[*suite.FileError](err); !ok { // which has a line for each mistake
		text = strings.ReplaceAll(text, "\n", "; ")
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(stderr, "%s: %s\n", root.Name(), strings.TrimSuffix(line, "\n"))
	}
	return codeOf(err)
}

// codeOf is the exit code of a command that ends with err.
func codeOf(err error) int {
	exit, ok := errors.AsType[*exitError](err)
	switch {
	case err == nil:
		return exitOK
	case !ok:
		return exitUsage
	}
	return exit.code
}

func rootCommand(stdin io.Reader, stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	root := &cobra.Command{
		Use:   "zkbench",
		Short: "Build, load-test and compare zero-knowledge payment proofs",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SetHelpCommand(helpCommand(root))
	root.AddCommand(listCommand(stdout, defs), runCommand(stdout, stderr, defs), compareCommand(stdout, stderr, defs),
		leakCommand(stdout, stderr, defs), stagesCommand(stdout, stderr, defs), peersCommand(stdout, stderr, defs), selfCheckCommand(stdin, stdout, stderr),
		execCaseCommand(stdin, stdout, defs), peerCommand(stdout, stderr, defs), paramsCommand(stdout),
		ledgerCommand(stdout, stderr), studyCommand(stdout, stderr, defs), suiteCommand(stdout, stderr, defs),
		reportCommand(stdout, stderr, defs), historyCommand(stdout))
	return root
}

func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return &usage.ValueError{Field: "command", Value: name, Accepted: strings.Join(names, ", ")}
}

// helpCommand refuses a command that does not exist, which cobra's own answers
// with the usage text and exit code 0.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about a command",
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(root, rest[0])
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
