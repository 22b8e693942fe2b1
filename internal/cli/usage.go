package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/view/progress"
	"github.com/zkbench/zkbench/internal/workload"
)

// The minimum and maximum width of help texts in columns. The maximum is the default.
const (
	leastWidth = 60
	helpWidth  = 100
)

// widthOf returns the width of help texts that are written to w.
func widthOf(w io.Writer) int {
	columns := columnsOf(w)
	if columns == 0 {
		return helpWidth
	}
	return min(max(columns, leastWidth), helpWidth)
}

// columnsOf returns the number of columns of the variable COLUMNS or of the terminal w, or 0 if there is neither.
func columnsOf(w io.Writer) int {
	columns, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if file, ok := w.(*os.File); err != nil && ok && progress.Terminal(w) {
		columns, _, err = term.GetSize(int(file.Fd()))
	}
	if err != nil {
		return 0
	}
	return max(columns, 0)
}

// writeHelp writes the help text of cmd. The parameter names has the other words of the command line. If cmd measures
// workloads and names has some of them, the help text is about their axes.
func (p *Program) writeHelp(w io.Writer, cmd *cobra.Command, names []string, width int) {
	h := &helpText{w: w, width: width}
	defs := p.axesOf(cmd, names)
	if len(defs) == 0 {
		h.command(cmd)
		return
	}
	h.workloads(defs, cmd.Flags().Lookup("matrix") != nil)
	var others []string
	for _, f := range flagsOf(cmd) {
		others = append(others, "--"+f.Name)
	}
	fmt.Fprintln(w)
	h.paragraph(fmt.Sprintf("Other flags, which %s --help explains: %s.", cmd.CommandPath(), strings.Join(others, ", ")))
	if cmd.Name() == jobs.CommandRun {
		h.example(p, defs)
	}
}

// axesOf returns those of the program's workloads that names has, with the axes that cmd has flags for. It returns none
// if cmd has no such flags.
func (p *Program) axesOf(cmd *cobra.Command, names []string) (defs []workload.Def) {
	for _, name := range names {
		def, err := workload.Find(p.Defs(), name)
		if err != nil {
			continue
		}
		def.Axes = slices.DeleteFunc(slices.Clone(def.Axes), func(a workload.Axis) bool {
			flag := cmd.Flags().Lookup(a.Long())
			return flag == nil || argument.GroupOf(flag) != jobs.AxesGroup
		})
		if len(def.Axes) > 0 {
			defs = append(defs, def)
		}
	}
	return defs
}

// flagsOf returns the flags that the help of cmd lists: all but those of axes and --help.
func flagsOf(cmd *cobra.Command) (flags []*pflag.Flag) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if argument.GroupOf(f) != jobs.AxesGroup && !f.Hidden && f.Name != "help" {
			flags = append(flags, f)
		}
	})
	return flags
}

// hasAxes reports whether cmd has flags for the axes of workloads.
func hasAxes(cmd *cobra.Command) (has bool) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { has = has || argument.GroupOf(f) == jobs.AxesGroup })
	return has
}

// helpText writes texts in lines of at most width columns.
type helpText struct {
	w     io.Writer
	width int
}

// command writes the help text of a command.
func (h *helpText) command(cmd *cobra.Command) {
	h.text(cmp.Or(cmd.Long, cmd.Short))
	if cmd.Hidden && !cmd.HasFlags() { // a topic
		return
	}
	fmt.Fprintln(h.w)
	h.usage(cmd)
	h.commands(cmd)
	h.flags(cmd)
	switch {
	case hasAxes(cmd):
		fmt.Fprintln(h.w)
		h.paragraph(fmt.Sprintf("%s WORKLOAD --help shows the axes of a workload, %s list the workloads.", cmd.CommandPath(), cmd.Root().DisplayName()))
	case cmd.HasAvailableSubCommands():
		fmt.Fprintf(h.w, "\n%s COMMAND --help explains a command.\n", cmd.CommandPath())
	}
}

// usage writes how a command is called: one line for each line of its Use, which begins with the command's name.
func (h *helpText) usage(cmd *cobra.Command) {
	path := strings.TrimSuffix(cmd.CommandPath(), cmd.Name())
	if !cmd.HasParent() {
		path = ""
	}
	forms := strings.Split(cmd.Use, "\n")
	if len(forms) == 1 && len(flagsOf(cmd)) > 0 {
		forms[0] += " [flags]"
	}
	if cmd.HasAvailableSubCommands() && !cmd.HasParent() {
		forms = append(forms, cmd.Use+" COMMAND")
	}
	const title = "Usage: "
	for i, form := range forms {
		lines := wrap(strings.Fields(path+form), h.width-len(title))
		for j, line := range lines {
			before := strings.Repeat(" ", len(title))
			if i+j == 0 {
				before = title
			}
			fmt.Fprintln(h.w, before+line)
		}
	}
}

// commands writes the commands below cmd, by their themes.
func (h *helpText) commands(cmd *cobra.Command) {
	themes := append(cmd.Groups(), &cobra.Group{Title: "Other commands:"})
	if len(cmd.Groups()) == 0 {
		themes[0].Title = "Commands:"
	}
	for _, theme := range themes {
		var rows [][2]string
		for _, c := range cmd.Commands() {
			if c.GroupID == theme.ID && (c.IsAvailableCommand() || c.Name() == "help" && !cmd.HasParent()) {
				rows = append(rows, [2]string{c.Name(), c.Short})
			}
		}
		h.titled(theme.Title, rows, leftOf(rows))
	}
}

// flags writes the flags of cmd by their groups, without those of axes.
func (h *helpText) flags(cmd *cobra.Command) {
	groups := make(map[string][][2]string)
	var titles []string
	var all [][2]string
	for _, f := range flagsOf(cmd) {
		title := cmp.Or(argument.GroupOf(f), "Flags")
		if groups[title] == nil {
			titles = append(titles, title)
		}
		row := flagRow(f)
		groups[title], all = append(groups[title], row), append(all, row)
	}
	for _, title := range titles {
		h.titled(title+":", groups[title], leftOf(all))
	}
}

// flagRow returns how a flag is typed and what it does, with its default.
func flagRow(f *pflag.Flag) [2]string {
	kind, does := pflag.UnquoteUsage(f)
	typed := "--" + f.Name
	if f.Shorthand != "" {
		typed = "-" + f.Shorthand + ", " + typed
	}
	normal := f.DefValue
	if o, ok := f.Value.(*argument.Option); ok && o.Default != "" {
		normal = o.Default
	}
	if normal != "" && normal != "false" {
		does += " (default " + normal + ")"
	}
	return [2]string{strings.TrimSpace(typed + " " + kind), does}
}

// workloads writes what the workloads do and what their axes accept. If study is set, it also writes the values of the
// axes with --matrix study.
func (h *helpText) workloads(defs []workload.Def, study bool) {
	for _, def := range defs {
		h.paragraph(def.ID() + ": " + def.Doc + ".")
	}
	small := make(map[string]string) // values of axes without a flag, of the first workload that has the axis
	for _, def := range defs {
		c, err := def.Small()
		if err != nil {
			continue
		}
		for _, a := range c.Axes() {
			if small[a.Key] == "" {
				small[a.Key] = a.Value
			}
		}
	}
	var rows [][2]string
	for _, a := range workload.DistinctAxes(defs) {
		does := a.Usage + ": " + a.Accepted
		all := cmp.Or(a.Depends, strings.Join(a.Default, ", "))
		normal := cmp.Or(small[a.Key], all)
		if does += " (default " + normal; study && normal != all {
			does += "; study " + all
		}
		rows = append(rows, [2]string{"--" + a.Long() + " list", does + ")"})
	}
	title := "Axes (values separated by commas):"
	if study {
		title = "Axes (values separated by commas; those after \"study\" are of --matrix study):"
	}
	h.titled(title, rows, leftOf(rows))
}

// example writes a command line that measures the workloads with the values of axes without a flag.
func (h *helpText) example(p *Program, defs []workload.Def) {
	for _, def := range defs {
		c, err := def.Small()
		if err != nil {
			continue
		}
		words := []string{p.Name, jobs.CommandRun, def.ID()}
		for _, a := range def.Axes {
			if value := c.Get(a.Key); value != "" {
				words = append(words, "--"+a.Long()+" "+argument.Quote(value))
			}
		}
		fmt.Fprintf(h.w, "\n  %s\n", strings.Join(wrap(words, h.width-8), " \\\n      "))
	}
}

// leftOf returns the width of the left column of rows.
func leftOf(rows [][2]string) (left int) {
	for _, row := range rows {
		left = max(left, len(row[0]))
	}
	return left
}

// titled writes a title and rows below it, whose left column has left columns unless that is more than a third of the
// line. It writes nothing if there are no rows.
func (h *helpText) titled(title string, rows [][2]string, left int) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(h.w)
	h.paragraph(title)
	left = min(left, h.width/3)
	for _, row := range rows {
		lines := wrap(strings.Fields(row[1]), max(h.width-left-4, leastWidth/3))
		if first := row[0]; len(first) > left {
			fmt.Fprintf(h.w, "  %s\n", first)
		} else {
			fmt.Fprintf(h.w, "  %-*s  %s\n", left, first, lines[0])
			lines = lines[1:]
		}
		for _, line := range lines {
			fmt.Fprintf(h.w, "  %*s  %s\n", left, "", line)
		}
	}
}

// text writes paragraphs. A line that begins with a space begins a line of the output. If it is too long, what does not
// fit is written below its last column.
func (h *helpText) text(text string) {
	var words []string
	end := func() {
		if len(words) > 0 {
			h.paragraph(strings.Join(words, " "))
		}
		words = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, " ") {
			end()
			h.row(line)
			continue
		}
		words = append(words, strings.Fields(line)...)
	}
	end()
}

// row writes a line of columns, which are separated by two spaces or more.
func (h *helpText) row(line string) {
	if utf8.RuneCountInString(line) <= h.width {
		fmt.Fprintln(h.w, line)
		return
	}
	last := len(line) - len(strings.TrimLeft(line, " "))
	if i := strings.LastIndex(line, "  "); i > last {
		last = i + 2
	}
	left := utf8.RuneCountInString(line[:last])
	for i, rest := range wrap(strings.Fields(line[last:]), max(h.width-left, leastWidth/3)) {
		before := line[:last]
		if i > 0 {
			before = strings.Repeat(" ", left)
		}
		fmt.Fprintln(h.w, before+rest)
	}
}

func (h *helpText) paragraph(text string) {
	fmt.Fprintln(h.w, strings.Join(wrap(strings.Fields(text), h.width), "\n"))
}
