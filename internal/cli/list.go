package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/workload"
)

func listCommand(stdout io.Writer, defs []workload.Def) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the workloads, their axes, accepted values, defaults, and the main job",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			return list(stdout, defs)
		},
	}
}

// Widths that keep the lines of list within about 110 columns.
const (
	acceptedWidth = 54
	defaultWidth  = 30
	usageWidth    = 90
)

func list(w io.Writer, defs []workload.Def) error {
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
	fmt.Fprintln(tw, "  axis\tflag\taccepted\tdefault")
	for _, a := range append(distinctAxes(defs), measure.WorkersAxis()) {
		columns(tw, []string{a.Key, "--" + a.Long()}, wrap(strings.Fields(a.Accepted), acceptedWidth), wrap(strings.Fields(strings.Join(a.Default, ", ")), defaultWidth))
	}
	if err := tw.Flush(); err != nil {
		return err
	}

	fmt.Fprintln(w, "\nThe main job, what run does without a workload:")
	fmt.Fprintf(w, "  %s\n", strings.Join(wrap(mainJobCommand(defs), usageWidth), " \\\n      "))

	fmt.Fprintln(w, "\nFlags of run beside the axes:")
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	for _, name := range jobs.NewRunFlags(flags, defs).Own {
		f := flags.Lookup(name)
		help := f.Usage
		if f.DefValue != "" {
			help += fmt.Sprintf(" (default %s)", f.DefValue)
		}
		columns(tw, []string{"--" + name}, wrap(strings.Fields(help), usageWidth))
	}
	return tw.Flush()
}

// distinctAxes returns the axes of all workloads in the order of their first
// appearance. Axes of one key that accept different values, or have different
// defaults, stand apart; the workloads that each is of are added to what it
// accepts.
func distinctAxes(defs []workload.Def) []workload.Axis {
	same := func(a, b workload.Axis) bool {
		return a.Key == b.Key && a.Accepted == b.Accepted && slices.Equal(a.Default, b.Default)
	}
	var axes []workload.Axis
	var of [][]string
	for _, def := range defs {
		for _, a := range def.Axes {
			i := slices.IndexFunc(axes, func(b workload.Axis) bool { return same(a, b) })
			if i < 0 {
				i = len(axes)
				axes, of = append(axes, a), append(of, nil)
			}
			of[i] = append(of[i], def.ID())
		}
	}
	shown := slices.Clone(axes)
	for i, a := range axes {
		if slices.ContainsFunc(axes, func(b workload.Axis) bool { return a.Key == b.Key && !same(a, b) }) {
			shown[i].Accepted += " (of " + strings.Join(of[i], ", ") + ")"
		}
	}
	return shown
}

// mainJobCommand is the main job as it could be typed, each flag with its value.
func mainJobCommand(defs []workload.Def) []string {
	words := []string{"zkbench", "run"}
	var flags []string
	lists := jobs.MainJobAxes()
	for _, name := range jobs.MainJobNames {
		def, err := workload.Find(defs, name)
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

// columns writes one row whose last cells take several lines.
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

// wrap joins words to lines of at most width bytes; a longer word has a line of
// its own.
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
