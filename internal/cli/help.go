package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// exitCodes says what each exit code means.
func exitCodes() []record.Term {
	return []record.Term{
		{Name: fmt.Sprint(ExitOK), Meaning: "everything passed"},
		{Name: fmt.Sprint(ExitFailed), Meaning: "an operation, a check, a gate or a bound of --fail-if failed, or a leak was found"},
		{Name: fmt.Sprint(ExitUsage), Meaning: "wrong usage or input; standard error names what is accepted"},
		{Name: fmt.Sprint(ExitPartial), Meaning: "interrupted, or too few or too noisy measurements to decide; for run also a case stopped at its deadline"},
	}
}

// topics returns the pages of help that are about no command. They are made from the tables that the program uses.
func topics(p *Program) []*cobra.Command {
	topic := func(name, about string, parts ...string) *cobra.Command {
		return &cobra.Command{Use: name, Hidden: true, Short: about, Long: about + ":\n\n" + strings.Join(parts, "\n\n")}
	}
	return []*cobra.Command{
		topic("axes", "The parameters of workloads", axesTable(p.Defs()), "list WORKLOAD shows the values and defaults of one workload."),
		topic("exit-codes", "What the exit code says", termTable(exitCodes())),
		topic("findings", "What findings mean, and what to do about them", termTable(record.FindingNames())),
		topic("metrics", "The figures of records", metricsTable()),
		topic("records", "The fields of a record, which is one line of JSON", termTable(record.Fields()),
			"Counters, in operations (offered = started + dropped + never-started, started = done + failed + unfinished):", termTable(record.Counters()),
			"A figure of memory, processor time, collections or disks has whose, the process that it is of:", termTable(record.Owners())),
	}
}

// termTable returns a line for each term, meanings aligned.
func termTable(terms []record.Term) string {
	rows := make([][]string, len(terms))
	for i, term := range terms {
		rows[i] = []string{term.Name, term.Meaning}
	}
	return aligned(rows)
}

// metricsTable lists the metrics under their headings.
func metricsTable() string {
	var parts []string
	var rows [][]string
	group := record.Group("")
	end := func() {
		if len(rows) > 0 {
			parts = append(parts, string(group)+":\n"+aligned(rows))
		}
		rows = nil
	}
	for _, q := range record.Quantities() {
		if q.Group() != group {
			end()
			group = q.Group()
		}
		rows = append(rows, []string{q.Name(), q.Unit(), q.Meaning()})
	}
	end()
	return strings.Join(parts, "\n\n")
}

// axesTable lists each axis once: its key in records, its flag, and what it is.
func axesTable(defs []workload.Def) string {
	rows := [][]string{{"key", "flag", "meaning"}}
	for _, def := range defs {
		for _, a := range def.Axes {
			row := []string{a.Key, "--" + a.Long(), a.Usage}
			if !slices.ContainsFunc(rows, func(other []string) bool { return slices.Equal(other[:2], row[:2]) }) {
				rows = append(rows, row)
			}
		}
	}
	slices.SortFunc(rows[1:], slices.Compare)
	return aligned(rows)
}

// aligned returns the rows as lines of columns, indented.
func aligned(rows [][]string) string {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(tw, "  %s\n", strings.Join(row, "\t"))
	}
	tw.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
