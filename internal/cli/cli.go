// Package cli is the command line of a program that measures workloads: its commands, their flags
// and their output. The type Program describes such a program: its workloads and its further
// commands.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/input/yamlfile"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/subprocess"
	"github.com/zkbench/zkbench/internal/view/charts"
	"github.com/zkbench/zkbench/internal/workload"
)

// The exit codes.
const (
	ExitOK      = 0
	ExitFailed  = 1 // an operation, a check or a gate failed
	ExitUsage   = 2 // wrong usage or input
	ExitPartial = 3 // stopped before the end, or could not decide
)

// ExitError is the error of a command that must exit with the exit code Code. If Text is empty, the
// command's output already says why.
type ExitError struct {
	Code int
	Text string
}

func (e *ExitError) Error() string { return e.Text }

// Program describes a command-line program that measures the workloads of a Go module.
type Program struct {
	Name, Short string
	Suites      suite.Collection // its families have the workloads, in the order of list
	Main        *jobs.MainJob    // what run measures if no workload is named; nil: a small case of each
	Hidden      []workload.Def   // workloads that children can run but no list shows
	Source      compare.Main     // what its revisions are built from; empty: the main package of the running program
	Tables      []Table          // files that report and suite write in addition
	Grids       []charts.Grid    // charts that report and suite draw in addition
	// More returns further commands. Those of a standard theme are added to it.
	More func(p *Program, stdout, stderr io.Writer) []Theme
}

// Table is a file that shows records. The function in its field Write writes the file's contents.
type Table struct {
	File  string
	Write func(io.Writer, []*record.Record) error
}

// Theme is a heading in the help text, together with the commands below this heading. If a
// theme has no title, its commands are hidden.
type Theme struct {
	ID, Title string
	Commands  []*cobra.Command
}

// The themes that every program has.
const (
	ThemeMeasure = "measure"
	ThemeCompare = "compare"
)

// Defs returns the program's workloads, in the order in which the list command shows them.
func (p *Program) Defs() (all []workload.Def) {
	for _, f := range p.Suites.Families {
		all = append(all, f.Defs...)
	}
	return all
}

func (p *Program) source() compare.Main { return cmp.Or(p.Source, compare.OwnMain()) }

// FlagNames returns the names of all flags of the program's commands.
func (p *Program) FlagNames() (names []string) {
	for _, cmd := range p.command(nil, io.Discard, io.Discard).Commands() {
		if !cmd.Hidden {
			cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		}
	}
	return append(names, "help", "version")
}

// Run runs the program with the arguments args and returns its exit code. It writes an error to
// stderr as one line, but writes one line for each mistake in a YAML file. An interrupt ends the
// measurement, and what was measured until then is kept.
func (p *Program) Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return Execute(p.command(stdin, stdout, stderr), args, stdout, stderr)
}

// Execute runs the command root with the arguments args and returns its exit code.
func Execute(root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once

	cobra.EnableCaseInsensitive = true
	prepared(root, stdout, stderr).SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitOK
	}
	text := strings.TrimSpace(err.Error())
	if _, ok := errors.AsType[*yamlfile.Error](err); !ok { // that has a line for each mistake
		text = strings.ReplaceAll(text, "\n", "; ")
	}
	for line := range strings.Lines(text) {
		fmt.Fprintf(stderr, "%s: %s\n", root.Name(), subprocess.Printable(strings.TrimSuffix(line, "\n")))
	}
	return CodeOf(err)
}

// prepared makes a command write to stdout and stderr, and leaves errors to its caller.
func prepared(root *cobra.Command, stdout, stderr io.Writer) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(flagError)
	return root
}

// CodeOf returns the exit code of a command that ends with err.
func CodeOf(err error) int {
	exit, ok := errors.AsType[*ExitError](err)
	switch {
	case err == nil:
		return ExitOK
	case !ok:
		return ExitUsage
	}
	return exit.Code
}

func (p *Program) command(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:     p.Name,
		Short:   p.Short,
		Args:    cobra.ArbitraryArgs,
		Version: env.Version(),
		RunE:    ACommand,
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { p.writeHelp(stdout, cmd, cmd.Flags().Args(), widthOf(stdout)) })
	root.SetHelpCommand(helpCommand(p, root, stdout))
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	themes := []Theme{
		{ThemeMeasure, "Measure:", []*cobra.Command{
			listCommand(p, stdout), runCommand(p, stdout, stderr), stagesCommand(p, stdout, stderr), leakCommand(p, stdout, stderr), suiteCommand(p, stdout, stderr), execCommand(p, stdin, stdout, stderr),
		}},
		{ThemeCompare, "Compare and show:", []*cobra.Command{
			compareCommand(p, stdout, stderr), bisectCommand(p, stdout, stderr), historyCommand(p, stdout), reportCommand(p, stdout, stderr), selfCheckCommand(stdin, stdout, stderr),
		}},
	}
	if p.More != nil {
		themes = append(themes, p.More(p, stdout, stderr)...)
	}
	for _, theme := range themes {
		if theme.Title != "" && !root.ContainsGroup(theme.ID) {
			root.AddGroup(&cobra.Group{ID: theme.ID, Title: theme.Title})
		}
		for _, cmd := range theme.Commands {
			cmd.GroupID = theme.ID
			p.complete(cmd)
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(inputCommand(stdout), ExecCaseCommand(stdin, stdout, append(workload.WithMix(p.Defs()), p.Hidden...)))
	root.AddCommand(ExecHostCommand(stdin, stdout))
	root.AddCommand(versionCommand(root, stdout))
	root.AddCommand(topics(p)...)
	root.SetGlobalNormalizationFunc(flagName)
	root.InitDefaultCompletionCmd()
	completion, _, err := root.Find([]string{"completion"})
	if err == nil { // cobra's own prints help for a shell that it does not know
		completion.Args, completion.RunE = cobra.ArbitraryArgs, ACommand
	}
	return root
}

// versionCommand returns the command version, which prints what the flag --version of root prints.
func versionCommand(root *cobra.Command, stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit, the version of Go and the platform",
		Args:  NoArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(stdout, "%s %s\n", root.Name(), root.Version)
			return err
		},
	}
}

// ACommand runs a command that has subcommands but was called without one: it prints the help text.
// It returns an error if args name a subcommand that does not exist.
func ACommand(cmd *cobra.Command, args []string) error {
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
	return argument.Unknown("command", name, names, root.CommandPath()+" --help")
}

// helpCommand returns the command help. It refuses a command that does not exist; cobra's own
// prints the usage text and exits with code 0.
func helpCommand(p *Program, root *cobra.Command, stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command [workload ...]]",
		Short: "Help about a command, or about axes, exit-codes, findings, metrics or records",
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 && !hasAxes(about) {
				return unknownCommand(root, rest[0])
			}
			for _, name := range rest {
				if _, err := workload.Find(p.Defs(), name); err != nil {
					return err
				}
			}
			about.InitDefaultHelpFlag()
			p.writeHelp(stdout, about, rest, widthOf(stdout))
			return nil
		},
	}
}
