// Package cli is the command line: the commands of zkbench, their flags and their output.
package cli

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

	"github.com/zkbench/zkbench/internal/env"
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
		Use:     "zkbench",
		Short:   "Build, load-test and compare zero-knowledge payment proofs",
		Args:    cobra.ArbitraryArgs,
		Version: env.Version(),
		RunE:    aCommand,
	}
	root.SetHelpCommand(helpCommand(root))
	ids := strings.Split(workload.IDs(defs), ", ")
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	for _, theme := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"measure", "Measure:", []*cobra.Command{
			listCommand(stdout, defs), runCommand(stdout, stderr, defs), stagesCommand(stdout, stderr, defs), leakCommand(stdout, stderr, defs),
			suiteCommand(stdout, stderr, defs), studyCommand(stdout, stderr, defs), peersCommand(stdout, stderr, defs),
		}},
		{"compare", "Compare and show:", []*cobra.Command{
			compareCommand(stdout, stderr, defs), bisectCommand(stdout, stderr, defs), historyCommand(stdout), reportCommand(stdout, stderr, defs), selfCheckCommand(stdin, stdout, stderr),
		}},
		{"tokens", "Run a token system:", []*cobra.Command{paramsCommand(stdout), policyCommand(stdout), ledgerCommand(stdout, stderr)}},
	} {
		root.AddGroup(&cobra.Group{ID: theme.id, Title: theme.title})
		for _, cmd := range theme.commands {
			cmd.GroupID = theme.id
			if slices.Contains([]string{"run", "stages", "leak", "compare", "bisect"}, cmd.Name()) {
				cmd.ValidArgsFunction = cobra.FixedCompletions(ids, cobra.ShellCompDirectiveDefault)
			}
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(execCaseCommand(stdin, stdout, defs), peerCommand(stdout, stderr, defs))
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err == nil { // whose own would take a shell that it does not know for a call for help
		completion.Args, completion.RunE = cobra.ArbitraryArgs, aCommand
	}
	return root
}

// aCommand is what a command does that has others below it, and was called without one.
func aCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return unknownCommand(cmd, args[0])
}

func unknownCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return &usage.ValueError{Field: "command", Value: name, Accepted: usage.Among(name, names, root.CommandPath()+" --help")}
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
