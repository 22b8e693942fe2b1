package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// compareFlags are the flags of compare, as they were typed.
type compareFlags struct {
	format, gate, gateMetrics *argument.Option
	baseline, oldCase         *argument.Option
	allowEnv, allowBlind      bool
	verbose                   bool
	git, accept               *argument.Option
	session                   *sessionFlags
}

// tableFormats returns the values of --format. The first is the default.
func tableFormats() []string { return []string{"text", "markdown", "csv", "json"} }

func newCompareFlags(flags *pflag.FlagSet, defs []workload.Def) *compareFlags {
	formats := strings.Join(tableFormats(), ", ")
	f := &compareFlags{
		git: argument.Define(flags, "git", argument.KindText, "", compare.RangeAccepted,
			"build and measure two revisions, REV1..REV2; "+compare.Work+" is the working tree"),
		session: newSessionFlags(flags, defs),
		format:  argument.Define(flags, "format", argument.KindText, tableFormats()[0], formats, "format of the table: "+formats),
		gate: argument.Define(flags, "gate", argument.KindText, "", compare.GateAccepted,
			"exit with code 1 if a time grew by more than this, for example 3%, or a size"),
		gateMetrics: argument.Define(flags, "gate-metrics", argument.KindList, "", "names of metrics in the table",
			"gate these metrics too, for example latency-p99"),
		accept: argument.Define(flags, "accept", argument.KindFile, "", "the path of a file of accepted growth",
			"file of exact metrics that may grow, and why (docs/compare.md)"),
		oldCase: argument.Define(flags, "case", argument.KindText, "", "a case of OLD, together with --with", "compare this case of OLD with the case --with of NEW"),
		baseline: argument.Define(flags, "baseline", argument.KindText, "", baselineAccepted,
			"compare with the records that run --save-baseline saved under this name"),
	}
	flags.BoolVar(&f.allowBlind, "allow-blind", false, "pass rows that could not have shown such a change; the table says so")
	flags.BoolVar(&f.allowEnv, "allow-env", false, "compare results from different environments; the table says so")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show all rows, also those that did not change")
	argument.Group(flags, "Revisions", append([]string{"git"}, f.session.own...)...)
	argument.Group(flags, "Gate", "gate", "gate-metrics", "accept", "allow-blind")
	argument.Group(flags, "Revisions", "with")
	argument.Group(flags, "Files and output", "case", "baseline", "format", "verbose", "allow-env")
	return f
}

func compareCommand(p *Program, stdout, stderr io.Writer) *cobra.Command {
	defs := p.Defs()
	cmd := &cobra.Command{
		Use: "compare OLD NEW\ncompare --baseline NAME NEW\ncompare SESSION\ncompare --git REV1..REV2 WORKLOAD ...\n" +
			"compare --git REV1..REV2 [--build COMMAND] --bench PACKAGES [-- FLAGS]\ncompare --git REV1..REV2 [--build COMMAND] --run COMMAND\n" +
			"compare --run COMMAND --with COMMAND\ncompare OLD NEW --case CASE --with CASE",
		Short: "Compare two versions: result files or Git revisions",
		Long: "Compare two result files, or measure two revisions (--git) or two programs (--run and --with) in\n" +
			"interleaved processes. A row is slower or faster if its 99 % interval excludes zero and its change\n" +
			"is larger than the noise that the old version shows against itself. docs/compare.md explains the\n" +
			"table and says which files are read.",
		Args: cobra.ArbitraryArgs,
	}
	f := newCompareFlags(cmd.Flags(), defs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		out, err := f.output(stdout)
		if err != nil {
			return err
		}
		if f.git.Given && f.baseline.Given {
			return &argument.ValueError{Field: "baseline", Value: f.baseline.Text, Accepted: "without --git, which measures the old side"}
		}
		if f.session.with.Given && !f.git.Given && f.session.command.Given {
			return f.session.runPrograms(cmd.Context(), stderr, args, out)
		}
		if f.session.with.Given != f.oldCase.Given || f.git.Given && f.oldCase.Given {
			return errors.New("--with goes with --run and without --git, or with --case and two files")
		}
		if f.git.Given {
			before := cmd.ArgsLenAtDash()
			if before < 0 {
				before = len(args)
			}
			return f.session.run(cmd.Context(), stderr, p, f.git.Text, args, before, out)
		}
		if name, ok := f.session.given(); ok {
			needs := "--git"
			if flagFits(name, byRun) {
				needs += " or --with"
			}
			return fmt.Errorf("--%s needs %s", name, needs)
		}
		sides, err := f.files(args)
		if err != nil {
			return err
		}
		return out.show(sides, "")
	}
	return cmd
}

// tableOutput writes a table and applies the gate to it.
type tableOutput struct {
	stdout   io.Writer
	write    func(*compare.Table, io.Writer) error
	gate     *compare.Gate // nil: none
	allowEnv bool
}

func (f *compareFlags) output(stdout io.Writer) (tableOutput, error) {
	o := tableOutput{stdout: stdout, allowEnv: f.allowEnv}
	switch strings.ToLower(f.format.Text) {
	case "text":
		o.write = func(t *compare.Table, w io.Writer) error { return t.Text(w, f.verbose, columnsOf(w)) }
	case "markdown":
		o.write = (*compare.Table).Markdown
	case "csv":
		o.write = (*compare.Table).CSV
	case "json":
		o.write = (*compare.Table).JSON
	default:
		return o, f.format.Refuse("format", f.format.Text)
	}
	if !f.gate.Given {
		for _, flag := range []struct {
			name  string
			given bool
		}{{"--gate-metrics", f.gateMetrics.Given}, {"--allow-blind", f.allowBlind}, {"--accept", f.accept.Given}, {"--budget", f.session.budget.Given}} {
			if flag.given {
				return o, fmt.Errorf("%s needs --gate", flag.name)
			}
		}
		return o, nil
	}
	limit, err := compare.ParseLimit(f.gate.Text)
	if err != nil {
		return o, err
	}
	o.gate = &compare.Gate{Limit: limit, AllowBlind: f.allowBlind}
	if f.accept.Given {
		data, err := os.ReadFile(f.accept.Text)
		if err != nil {
			return o, fmt.Errorf("accept: %w", err)
		}
		if o.gate.Accepted, err = compare.ParseAcceptances(data); err != nil {
			return o, fmt.Errorf("%s: %w", f.accept.Text, err)
		}
	}
	if f.gateMetrics.Given {
		for name := range strings.SplitSeq(f.gateMetrics.Text, ",") {
			o.gate.Metrics = append(o.gate.Metrics, strings.TrimSpace(name))
		}
	}
	return o, nil
}

// files returns the sides that the arguments name: two files, a baseline and a file, or a session.
func (f *compareFlags) files(args []string) (sides compare.Sides, err error) {
	switch {
	case f.baseline.Given && len(args) == 1:
		if sides.Old, err = loadBaseline(f.baseline.Text); err == nil {
			sides.New, err = loadFile(args[0])
		}
	case f.baseline.Given:
		return sides, &argument.ValueError{Field: "files of compare --baseline", Value: strings.Join(args, " "), Accepted: "NEW alone: the baseline is the old side"}
	case len(args) == 1:
		sides, err = loadSession(args[0])
	case len(args) == 2:
		if sides.Old, err = loadFile(args[0]); err == nil {
			sides.New, err = loadFile(args[1])
		}
	default:
		return sides, &argument.ValueError{Field: "files of compare", Value: strings.Join(args, " "), Accepted: "OLD NEW, one SESSION, or --git REV1..REV2 and workloads"}
	}
	if err != nil || !f.oldCase.Given {
		return sides, err
	}
	sides.Pair = &compare.Pair{}
	if sides.Pair.Old, err = sides.Old.Case("case", f.oldCase.Text); err == nil {
		sides.Pair.New, err = sides.New.Case("with", f.session.with.Text)
	}
	return sides, err
}

func loadFile(path string) (*compare.Set, error) {
	data, err := record.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return compare.Load(path, data)
}

func loadSession(path string) (compare.Sides, error) {
	data, err := record.ReadFile(path)
	if err != nil {
		return compare.Sides{}, err
	}
	return compare.LoadSession(path, data)
}

// show compares the sides, writes the table and returns the result of the gate as an error. partial
// says why there is less than planned, or is empty.
func (o tableOutput) show(sides compare.Sides, partial string) error {
	table, err := compare.Compare(sides, o.allowEnv)
	unfit, _ := errors.AsType[*compare.UnfitError](err)
	gone := error(nil) // processes that are left out of the table
	if unfit != nil {
		gone = &ExitError{Code: ExitUsage, Text: unfit.Error()}
		if unfit.Failed && o.gate != nil {
			gone = &ExitError{Code: ExitFailed, Text: unfit.Error()}
		}
	}
	if table == nil {
		return cmp.Or(gone, err)
	}
	table.Partial = partial
	var outcome compare.Outcome
	if o.gate != nil {
		if outcome, err = o.gate.Apply(table); err != nil {
			return err
		}
	}
	if err := o.write(table, o.stdout); err != nil {
		return &ExitError{Code: ExitFailed, Text: err.Error()}
	}
	switch {
	case gone != nil:
		return gone
	case partial != "":
		return &ExitError{Code: ExitPartial, Text: partial}
	case len(outcome.Tripped) > 0:
		return &ExitError{Code: ExitFailed, Text: fmt.Sprintf("worse than the gate of %s lets pass: %s", o.gate.Percent(), joinRows(outcome.Tripped))}
	case len(outcome.Blind) > 0 && !o.gate.AllowBlind:
		return &ExitError{Code: ExitPartial, Text: fmt.Sprintf("could not have seen %s: %s", o.gate.Percent(), joinRows(outcome.Blind))}
	case o.gate != nil && len(table.Unread) > 0 && !o.gate.AllowBlind:
		return &ExitError{Code: ExitPartial, Text: "the gate could not read all figures: " + strings.Join(table.Unread, "; ")}
	case len(outcome.Lost) > 0 && !o.gate.AllowBlind:
		return &ExitError{Code: ExitPartial, Text: fmt.Sprintf("the new side lacks what the gate judges: %s", outcome.Lost[0])}
	}
	return nil
}

// joinRows lists rows by their cases, whose names are long.
func joinRows(rows []compare.Row) string {
	var b strings.Builder
	for i, r := range rows {
		switch {
		case i == 0:
			b.WriteString(r.Case + " ")
		case r.Case != rows[i-1].Case || r.Package != rows[i-1].Package:
			b.WriteString("; " + r.Case + " ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(r.Name())
	}
	return b.String()
}
