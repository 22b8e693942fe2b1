package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/measure"
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
		h := &helpText{w: stdout, width: widthOf(stdout)}
		if *all {
			h.everything(p)
			return nil
		}
		if len(names) == 0 {
			h.list(p)
			return nil
		}
		var named []workload.Def
		for _, name := range names {
			def, err := workload.Find(defs, name)
			if err != nil {
				return err
			}
			named = append(named, def)
		}
		h.workloads(named, true)
		h.example(p, named)
		return nil
	}
	return cmd
}

// list writes a line for each workload.
func (h *helpText) list(p *Program) {
	left := 0
	for _, def := range p.Defs() {
		left = max(left, len(def.ID()))
	}
	for _, def := range p.Defs() {
		does := wrap(strings.Fields(def.Doc), h.width-left-6)
		if len(does) > 1 {
			does[0] += " …"
		}
		fmt.Fprintf(h.w, "  %-*s  %s\n", left, def.ID(), does[0])
	}
	fmt.Fprintf(h.w, "%s list WORKLOAD lists its axes, %[1]s list --all everything.\n", p.Name)
}

// everything writes everything that can be typed after run.
func (h *helpText) everything(p *Program) {
	h.workloads(p.Defs(), true)
	if p.Main != nil {
		fmt.Fprintln(h.w, "\nThe main job, which run measures without a workload:")
		fmt.Fprintf(h.w, "  %s\n", strings.Join(wrap(mainJobCommand(p), h.width-10), " \\\n      "))
	}
	h.flags(runCommand(p, io.Discard, io.Discard))
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

// wrap joins words to lines of at most width bytes. A longer word has a line of its own, but a longer list is split
// after its commas.
func wrap(words []string, width int) []string {
	var lines []string
	line := ""
	for i, word := range words {
		if len(word) > width && strings.Contains(strings.TrimSuffix(word, ","), ",") {
			words = slices.Concat(words[:i:i], strings.Fields(strings.ReplaceAll(word, ",", ", ")), words[i+1:])
			return wrap(words, width)
		}
	}
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
