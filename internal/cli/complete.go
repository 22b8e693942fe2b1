package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/workload"
)

// complete lets a shell complete the names of workloads and the values of their axes, if cmd has flags for axes.
func (p *Program) complete(cmd *cobra.Command) {
	if !hasAxes(cmd) {
		return
	}
	cmd.ValidArgsFunction = cobra.FixedCompletions(strings.Split(workload.IDs(p.Defs()), ", "), cobra.ShellCompDirectiveDefault)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if argument.GroupOf(f) != jobs.AxesGroup {
			return
		}
		// The error is that of a flag that cmd does not have, or that has such a function already.
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			defs := p.axesOf(cmd, args)
			if len(defs) == 0 {
				defs = p.Defs()
			}
			return axisValues(defs, f.Name, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		})
	})
}

// axisValues returns the lists that begin with the text typed and end with one more value of the axis whose flag has
// the given name: an accepted name, or a default if the axis is one of numbers.
func axisValues(defs []workload.Def, flag, typed string) (lists []string) {
	before, last := "", typed
	if i := strings.LastIndexByte(typed, ','); i >= 0 {
		before, last = typed[:i+1], typed[i+1:]
	}
	for _, def := range defs {
		for _, a := range def.Axes {
			if a.Long() != flag {
				continue
			}
			values := a.Names
			if len(values) == 0 {
				values = a.Default
			}
			for _, value := range values {
				list := before + value
				if strings.HasPrefix(strings.ToLower(value), strings.ToLower(last)) && value != workload.All && !slices.Contains(lists, list) {
					lists = append(lists, list)
				}
			}
		}
	}
	return lists
}
