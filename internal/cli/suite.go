package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/suite"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

const (
	acceptedSuiteOut = "the path of a directory without a suite"
	acceptedResume   = "the directory of a suite that was begun"
	acceptedTimeout  = "a time from 0s to 24h; 0s: none"
)

// suiteCommand runs suites.
func suiteCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "suite [name | file.yaml]",
		Short: "Run a whole matrix of cases, which can be stopped and goes on; without a name: the suites that there are",
		Long: "Run the cases of a suite: one of " + strings.Join(suiteNames(defs), ", ") + ", or a file of your own.\n" +
			"Each case runs in a process of its own, repetitions take turns, and what has ended is\n" +
			"kept: a suite that was stopped or killed goes on with --resume DIR. Tables, plots and\n" +
			"one page are written at its end. A file names cases by commands and their flags:\n\n" +
			"  name: mine\n  repetitions: 3\n  cases:\n    - run: [sender, verification-sender-proof]\n" +
			"      proof-type: [bulletproof, csp]\n      cpus: [1, 2, 4]\n      workers: NumCPU\n      duration: 5s\n" +
			"    - stages: pedersen\n      hashes: 8,32",
		Args: cobra.ArbitraryArgs,
	}
	f := newSuiteFlags(cmd, defs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case f.resume.Given && len(args) > 0:
			return &usage.ValueError{Field: "suite beside --resume", Value: args[0], Accepted: "none: the directory knows its suite"}
		case f.resume.Given:
			return f.goOn(cmd, stdout, stderr, defs)
		case len(args) == 0:
			return listSuites(stdout, defs)
		case len(args) > 1:
			return &usage.ValueError{Field: "suite", Value: args[1], Accepted: "one suite at a time"}
		}
		file, err := readSuite(defs, args[0])
		if err != nil {
			return err
		}
		return f.begin(cmd, stdout, stderr, defs, file, args[0])
	}
	return cmd
}

// suiteFlags are the flags of suite as they were typed.
type suiteFlags struct {
	out, resume, repetitions, only, timeout *usage.Option
	plan                                    *bool
}

func newSuiteFlags(cmd *cobra.Command, defs []workload.Def) *suiteFlags {
	flags := cmd.Flags()
	f := &suiteFlags{}
	f.out = usage.Define(flags, "out", usage.KindFile, "", acceptedSuiteOut, "directory of all that the suite leaves (default "+suite.FolderName(time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC))+" of its beginning)")
	f.resume = usage.Define(flags, "resume", usage.KindFile, "", acceptedResume, "go on with the suite of this directory")
	f.repetitions = usage.Define(flags, "repetitions", usage.KindNumber, "", fmt.Sprintf("1 to %d", suite.MaxRepetitions), "processes of each case, in turn (default the suite's)")
	f.only = usage.Define(flags, "only", usage.KindList, "", workloadIDs(defs), "workloads of the suite that are run, the others are left out")
	f.timeout = usage.Define(flags, "timeout", usage.KindTime, "0s", acceptedTimeout, "time after which a case's process is stopped: "+acceptedTimeout)
	f.plan = flags.Bool("plan", false, "show the cases and how long they take, run nothing")
	return f
}

func workloadIDs(defs []workload.Def) string {
	ids := make([]string, len(defs))
	for i, d := range defs {
		ids[i] = d.ID()
	}
	return strings.Join(ids, ", ")
}

// begin begins the suite of a file.
func (f *suiteFlags) begin(cmd *cobra.Command, stdout, stderr io.Writer, defs []workload.Def, file *suite.File, name string) error {
	plan, err := f.read(defs, file, name)
	if err != nil {
		return err
	}
	if *f.plan {
		return plan.show(stdout)
	}
	dir := suite.FolderName(plan.header.Begun)
	if f.out.Given {
		dir = f.out.Text
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("out: %w", err)
	}
	journal, err := suite.Create(dir, plan.header)
	if err != nil {
		return fmt.Errorf("out: %w", err)
	}
	if err := plan.summary(stdout); err != nil {
		return errors.Join(err, journal.Close())
	}
	r := &suiteRun{defs: defs, dir: dir, header: plan.header, journal: journal, again: cmd.CommandPath(), stdout: stdout, stderr: stderr}
	return errors.Join(r.all(cmd.Context()), journal.Close())
}

// goOn goes on with the suite of a directory.
func (f *suiteFlags) goOn(cmd *cobra.Command, stdout, stderr io.Writer, defs []workload.Def) error {
	var other string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "resume" && flag.Name != "plan" {
			other = flag.Name
		}
	})
	if other != "" {
		return &usage.ValueError{Field: "flag beside --resume", Value: "--" + other, Accepted: "--plan"}
	}
	journal, header, err := suite.Open(f.resume.Text)
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if *f.plan {
		p := suitePlan{header: header}
		return errors.Join(p.show(stdout), journal.Close())
	}
	earlier, err := journal.Records()
	if err == nil {
		err = sameMachine(header, earlier)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("resume: %w", err), journal.Close())
	}
	r := &suiteRun{defs: defs, earlier: earlier, dir: f.resume.Text, header: header, journal: journal, again: cmd.CommandPath(), stdout: stdout, stderr: stderr}
	return errors.Join(r.all(cmd.Context()), journal.Close())
}

// listSuites writes the suites that the program has, with their cost on this machine.
func listSuites(w io.Writer, defs []workload.Def) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "suite\tprocesses\tabout\t")
	for _, name := range suiteNames(defs) {
		file, err := readSuite(defs, name)
		if err != nil {
			return err
		}
		p, err := expandSuite(defs, file, name, runtime.GOMAXPROCS(0))
		if err != nil {
			return err
		}
		all := suite.Interleave(p.cases, file.Repetitions)
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\n", name, len(all), about(suite.NewEstimate(all).From(0)), file.About)
	}
	return table.Flush()
}

// about is a time that is an estimate.
func about(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	case d >= 2*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// named leaves the cases of the workloads that --only names.
func (f *suiteFlags) named(defs []workload.Def, p *suitePlan) error {
	if !f.only.Given {
		return nil
	}
	var names []string
	for id := range strings.SplitSeq(f.only.Text, ",") {
		def, err := workload.Find(defs, strings.TrimSpace(id))
		if err != nil {
			return f.only.Refuse("only", id)
		}
		names = append(names, def.Name)
	}
	p.cases = slices.DeleteFunc(p.cases, func(c suite.Case) bool { return !slices.Contains(names, c.Job.Workload) })
	if len(p.cases) == 0 {
		return &usage.ValueError{Field: "only", Value: f.only.Text, Accepted: "workloads that the suite has cases of"}
	}
	return nil
}
