package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/workload"
)

func listCommand(p *Program, stdout io.Writer) *cobra.Command {
	defs := p.Defs()
	cmd := &cobra.Command{
		Use:   "list [workload ...]",
		Short: "List workloads, or the parameters of one",
		Args:  cobra.ArbitraryArgs,
	}
	all := cmd.Flags().Bool("all", false, "list all axes, the main job and the flags of run")
	cmd.RunE = func(_ *cobra.Command, names []string) error {
		if *all {
			return listAll(p, stdout)
		}
		if len(names) == 0 {
			return list(p, stdout)
		}
		var named []workload.Def
		for _, name := range names {
			def, err := workload.Find(defs, name)
			if err != nil {
				return err
			}
			named = append(named, def)
		}
		return listAxes(stdout, named)
	}
	return cmd
}

// list writes a line for each workload.
func list(p *Program, w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, def := range p.Defs() {
		does := wrap(strings.Fields(def.Doc), usageWidth)
		if len(does) > 1 {
			does[0] += " …"
		}
		columns(tw, []string{def.ID()}, does[:1])
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s list WORKLOAD lists its axes, %[1]s list --all everything.\n", p.Name)
	return err
}

// Widths that keep the lines of list within about 110 columns.
const (
	acceptedWidth = 54
	defaultWidth  = 30
	usageWidth    = 90
)

// listAll writes everything that can be typed after run.
func listAll(p *Program, w io.Writer) error {
	defs := p.Defs()
	if err := listAxes(w, defs); err != nil {
		return err
	}
	if p.Main != nil {
		fmt.Fprintln(w, "\nThe main job, what run does without a workload:")
		fmt.Fprintf(w, "  %s\n", strings.Join(wrap(mainJobCommand(p), usageWidth), " \\\n      "))
	}

	fmt.Fprintln(w, "\nOther flags of run:")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	for _, name := range jobs.NewRunFlags(flags, defs, p.Main).Own {
		f := flags.Lookup(name)
		help := f.Usage
		if f.DefValue != "" {
			help += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		columns(tw, []string{"--" + name}, wrap(strings.Fields(help), usageWidth))
	}
	return tw.Flush()
}

// listAxes writes what the workloads do and what their axes accept.
func listAxes(w io.Writer, defs []workload.Def) error {
	fmt.Fprintln(w, "Workloads, and the axes that each has:")
	for _, def := range defs {
		var keys []string
		for _, a := range def.Axes {
			keys = append(keys, a.Key)
		}
		fmt.Fprintf(w, "  %s\n    %s\n    %s\n", def.ID(), def.Doc, strings.Join(keys, " "))
	}

	fmt.Fprintln(w, "\nAxes; flags take comma-separated lists:")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "  axis\tflag\taccepted\twith --matrix study")
	for _, a := range append(distinctAxes(defs), measure.WorkersAxis()) {
		columns(tw, []string{a.Key, "--" + a.Long()}, wrap(strings.Fields(a.Accepted), acceptedWidth), wrap(strings.Fields(cmp.Or(a.Depends, strings.Join(a.Default, ", "))), defaultWidth))
	}
	return tw.Flush()
}

// distinctAxes returns the axes of all workloads in the order of their first appearance. Axes with
// the same key that accept different values, or have different defaults, are listed separately; the
// accepted values then name the workloads.
func distinctAxes(defs []workload.Def) []workload.Axis {
	same := func(a, b workload.Axis) bool {
		return a.Key == b.Key && a.Accepted == b.Accepted && a.Depends == b.Depends && slices.Equal(a.Default, b.Default)
	}
	var axes []workload.Axis
	var users [][]string // ids of the workloads that have each axis
	for _, def := range defs {
		for _, a := range def.Axes {
			i := slices.IndexFunc(axes, func(b workload.Axis) bool { return same(a, b) })
			if i < 0 {
				i = len(axes)
				axes, users = append(axes, a), append(users, nil)
			}
			users[i] = append(users[i], def.ID())
		}
	}
	shown := slices.Clone(axes)
	for i, a := range axes {
		if slices.ContainsFunc(axes, func(b workload.Axis) bool { return a.Key == b.Key && !same(a, b) }) {
			shown[i].Accepted += " (of " + strings.Join(users[i], ", ") + ")"
		}
	}
	return shown
}

// mainJobCommand returns the main job as a command line, with the value of each flag.
func mainJobCommand(p *Program) []string {
	words := []string{p.Name, "run"}
	var flags []string
	lists := maps.Clone(p.Main.Axes)
	for _, name := range p.Main.Workloads {
		def, err := workload.Find(p.Defs(), name)
		if err != nil {
			continue
		}
		words = append(words, def.ID())
		for _, a := range def.Axes {
			if values, ok := lists[a.Key]; ok {
				flags = append(flags, "--"+a.Long()+" "+values)
				delete(lists, a.Key)
			}
		}
	}
	flags = append(flags, "--workers "+measure.NumCPU, fmt.Sprintf("--duration %v", measure.MainJobDuration))
	return append(words, flags...)
}

// columns writes one row whose last cells may take several lines.
func columns(w io.Writer, first []string, cells ...[]string) {
	lines := 1
	for _, c := range cells {
		lines = max(lines, len(c))
	}
	for i := range lines {
		row := make([]string, len(first), len(first)+len(cells))
		if i == 0 {
			copy(row, first)
		}
		for _, c := range cells {
			if i < len(c) {
				row = append(row, c[i])
			} else {
				row = append(row, "")
			}
		}
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
}

// wrap joins words to lines of at most width bytes. A longer word has a line of its own.
func wrap(words []string, width int) []string {
	var lines []string
	line := ""
	for _, word := range words {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
