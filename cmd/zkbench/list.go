package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/workload"
)

func listCommand(stdout io.Writer, defs []workload.Def) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the workloads, their axes, accepted values and defaults",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			for i, def := range defs {
				if i > 0 {
					fmt.Fprintln(stdout)
				}
				if err := listOne(stdout, def); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func listOne(w io.Writer, def workload.Def) error {
	fmt.Fprintf(w, "%s\n  %s\n", def.ID(), def.Doc)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, a := range append(def.Axes[:len(def.Axes):len(def.Axes)], workload.WorkersAxis()) {
		fmt.Fprintf(tw, "  --%s\t%s\t(default %s)\n", a.Long(), a.Accepted, strings.Join(a.Default, ","))
	}
	return tw.Flush()
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return &workload.ValueError{Field: "argument", Value: args[0], Accepted: "none"}
	}
	return nil
}
