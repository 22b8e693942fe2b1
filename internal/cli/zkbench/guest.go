package zkbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/workload/guestprogram"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/cost"
	"github.com/zkbench/zkbench/riscv/precompile"
	"github.com/zkbench/zkbench/zkvm"
)

func guestCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{Use: "guest", Short: "Run a RISC-V program, count its instructions, prove its run, estimate what that costs"}
	cmd.AddCommand(guestRunCommand(stdout, stderr), guestProveCommand(stdout, stderr), guestVerifyCommand(stdout), guestCostCommand(stdout, stderr), guestInputCommand())
	return cmd
}

// guestRun holds the flags of a run.
type guestRun struct {
	input, output, profile, isa, precompiles, tags, env *argument.Option
	memory, cycles, mapped                              *argument.Option
	misaligned                                          *bool

	// watch, if not nil, gets the program and the options before the run, and may set their Trace.
	watch func(p *riscv.Program, o *riscv.Options)
}

// guestUse names the program and its arguments in usage lines.
const guestUse = "PROGRAM [-- argument ...]"

const guestLong = "PROGRAM is an ELF file, or a Go package such as ./cmd/guest, which is built for\n" +
	"linux/riscv64. Every run is the same: time, threads and random bytes come from the emulated\n" +
	"machine (docs/riscv.md). Nothing is proved: see zkbench guest prove.\n"

// isas are the instruction sets by name.
var isas = map[string]riscv.ISA{"rv64gc": *riscv.RV64GC(), "rv64imc": *riscv.RV64IMC(), "rv64im": *riscv.RV64IM(), "rv32im": *riscv.RV32IM()}

func defineGuestRun(flags *pflag.FlagSet) *guestRun {
	names := strings.Join(slices.Sorted(maps.Keys(isas)), ", ")
	sets := strings.Join(append([]string{"all"}, slices.Sorted(maps.Keys(precompile.Sets()))...), ", ")
	file := "the path of a file"
	return &guestRun{
		input:       argument.Define(flags, "input", argument.KindFile, "", file, "the guest's input file (default none)"),
		output:      argument.Define(flags, "output", argument.KindFile, "", file, "file for the output that the guest commits to, written if it ends with code 0"),
		profile:     argument.Define(flags, "profile", argument.KindFile, "", file, "write cycles by call stack to this file, for go tool pprof"),
		isa:         argument.Define(flags, "isa", argument.KindText, "", names, "instruction set of an ELF file that needs no operating system: "+names+" (default rv64gc, or rv32im for 32 bits)"),
		precompiles: argument.Define(flags, "precompiles", argument.KindList, "all", sets, "sets of precompiles that the guest may call: "+sets),
		tags:        argument.Define(flags, "tags", argument.KindList, "", "build tags", "build tags of a Go package"),
		env:         argument.Define(flags, "env", argument.KindList, "", "KEY=value with commas", "environment variables of a Linux program, for example GOGC=off"),
		memory:      argument.Define(flags, "memory", argument.KindNumber, fmt.Sprint(riscv.DefaultMemory), "4096 to 2^40", "bytes of memory that the guest may use"),
		mapped:      argument.Define(flags, "map", argument.KindList, "", "START-END with commas, such as 0x1000-0x200000", "addresses outside the program's segments that it may read and write, such as its stack's"),
		cycles:      argument.Define(flags, "cycles", argument.KindNumber, fmt.Sprint(riscv.DefaultCycles), "1 to 2^60", "end the guest after this many cycles"),
		misaligned:  flags.Bool("misaligned", false, "execute and count misaligned accesses instead of ending the guest"),
	}
}

// run runs the program that args name, with its arguments.
func (f *guestRun) run(ctx context.Context, args []string, stdout, stderr io.Writer) (r *riscv.Result, took time.Duration, err error) {
	if len(args) == 0 {
		return nil, 0, &argument.ValueError{Field: "program", Value: "", Accepted: "an ELF file, or a Go package such as ./cmd/guest"}
	}
	p, err := f.program(ctx, args[0])
	if err != nil {
		return nil, 0, err
	}
	o := riscv.Options{Args: args[1:], Stdout: stdout, Stderr: stderr, Misaligned: *f.misaligned}
	for set := range strings.SplitSeq(f.precompiles.Text, ",") {
		some, ok := precompile.Sets()[set]
		switch {
		case set == "all":
			some = precompile.All()
		case !ok:
			return nil, 0, f.precompiles.Refuse("precompiles", set)
		}
		for _, one := range some {
			if !slices.ContainsFunc(o.Precompiles, func(p riscv.Precompile) bool { return p.Number == one.Number }) {
				o.Precompiles = append(o.Precompiles, one)
			}
		}
	}
	if o.MemoryLimit, err = f.memory.Number("memory", 4096, 1<<40); err != nil {
		return nil, 0, err
	}
	if f.mapped.Given {
		for item := range strings.SplitSeq(f.mapped.Text, ",") {
			from, to, _ := strings.Cut(item, "-")
			start, err := strconv.ParseUint(strings.TrimSpace(from), 0, 64)
			end, err2 := strconv.ParseUint(strings.TrimSpace(to), 0, 64)
			if err != nil || err2 != nil || start >= end {
				return nil, 0, f.mapped.Refuse("map", item)
			}
			o.Map = append(o.Map, riscv.Range{Start: start, End: end})
		}
	}
	if o.CycleLimit, err = f.cycles.Number("cycles", 1, 1<<60); err != nil {
		return nil, 0, err
	}
	if f.env.Given {
		for item := range strings.SplitSeq(f.env.Text, ",") {
			if key, _, ok := strings.Cut(item, "="); !ok || key == "" {
				return nil, 0, f.env.Refuse("env", item)
			}
			o.Env = append(o.Env, item)
		}
	}
	if f.input.Given {
		if o.Input, err = os.ReadFile(f.input.Text); err != nil {
			return nil, 0, fmt.Errorf("input: %w", err)
		}
	}
	if err := checkFolder("output", f.output); err != nil {
		return nil, 0, err
	}
	profile, err := createFile("profile", f.profile)
	if err != nil {
		return nil, 0, err
	}
	if profile != nil {
		o.Profile = profile
	}
	if f.watch != nil {
		f.watch(p, &o)
	}
	start := time.Now()
	r, err = riscv.Run(ctx, p, o)
	took = time.Since(start)
	if profile != nil {
		err = cmp.Or(err, profile.Close())
	}
	if err == nil && f.output.Given {
		err = os.WriteFile(f.output.Text, r.Output, 0o666)
	}
	return r, took, f.withoutInput(args[0], err)
}

// createFile creates a file to write after the run. It returns nil if the flag was not given.
func createFile(field string, o *argument.Option) (*os.File, error) {
	if !o.Given {
		return nil, nil
	}
	file, err := os.Create(o.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return file, nil
}

func (f *guestRun) program(ctx context.Context, path string) (*riscv.Program, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("program: %w", err)
	case info.IsDir() && f.isa.Given:
		return nil, &argument.ValueError{Field: "isa", Value: f.isa.Text, Accepted: "only with an ELF file"}
	case !info.IsDir() && f.tags.Given:
		return nil, &argument.ValueError{Field: "tags", Value: f.tags.Text, Accepted: "only with a Go package"}
	case info.IsDir():
		var tags []string
		if f.tags.Given {
			tags = strings.Split(f.tags.Text, ",")
		}
		return guestprogram.Build(ctx, path, ".", tags...)
	}
	var isa *riscv.ISA
	if f.isa.Given {
		known, ok := isas[f.isa.Text]
		if !ok {
			return nil, f.isa.Refuse("isa", f.isa.Text)
		}
		isa = &known
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	return riscv.Load(raw, isa)
}

// ended translates a guest's end into the command's error. A guest that failed or was ended is a
// failure.
func ended(err error) error {
	if fault, ok := errors.AsType[*riscv.Fault](err); ok {
		return &cli.ExitError{Code: cli.ExitFailed, Text: fault.Error()}
	}
	if code, ok := errors.AsType[*riscv.ExitError](err); ok {
		return &cli.ExitError{Code: cli.ExitFailed, Text: code.Error()}
	}
	if errors.Is(err, context.Canceled) {
		return &cli.ExitError{Code: cli.ExitPartial, Text: "interrupted"}
	}
	return err
}

func guestRunCommand(stdout, stderr io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use: "run " + guestUse, Args: cobra.ArbitraryArgs,
		Short: "Run a program and count its instructions by section, class and function",
		Long:  "Run a RISC-V program and count the instructions that it retires, by section, class and function.\n" + guestLong,
	}
	f := defineGuestRun(cmd.Flags())
	functions := argument.Define(cmd.Flags(), "functions", argument.KindNumber, "8", "0 to 1000", "number of functions to show, those with the most cycles first")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		most, err := functions.Number("functions", 0, 1000)
		if err != nil {
			return err
		}
		r, took, err := f.run(cmd.Context(), args, stdout, stderr)
		if r != nil && r.Cycles > 0 {
			showCounts(stdout, r, took, int(most))
		}
		return ended(err)
	}
	return cmd
}

// grouped formats a number with its digits in groups.
func grouped(n uint64) string { return format.Count(float64(n)) }

// showCounts prints what a guest did.
func showCounts(w io.Writer, r *riscv.Result, took time.Duration, most int) {
	fmt.Fprintf(w, "%s cycles in %s, %s per second; %s of memory, %s page touches; %s misaligned; %s of output\n\n",
		grouped(r.Cycles), format.Time(float64(took)), format.Prefixed(float64(r.Cycles)/took.Seconds()),
		format.Bytes(float64(r.Pages)*4096), grouped(r.Touches), grouped(r.Misaligned), format.Bytes(float64(len(r.Output))))
	head := []string{"section", "entered", "cycles"}
	for c := riscv.Class(0); int(c) < len(r.Classes); c++ {
		head = append(head, c.String())
	}
	table := &format.Table{Columns: format.Heads(head...)}
	row := func(name, entered string, t *riscv.Tally) {
		cells := []string{name, entered, grouped(t.Cycles)}
		for _, n := range t.Classes {
			cells = append(cells, grouped(n))
		}
		table.Add(cells...)
	}
	row("(all)", "", &r.Tally)
	for i := range r.Sections {
		row(r.Sections[i].Name, grouped(r.Sections[i].Entered), &r.Sections[i].Tally)
	}
	printTable(w, table)
	if len(r.Precompiles) > 0 {
		table = &format.Table{Columns: format.Heads("precompile", "calls", "units")}
		for _, p := range r.Precompiles {
			table.Add(p.Name, grouped(p.Calls), grouped(p.Units))
		}
		printTable(w, table)
	}
	if len(r.Missing) > 0 {
		table = &format.Table{Columns: format.Heads("missing call, answered ENOSYS", "times")}
		for _, c := range r.Missing {
			table.Add(c.Name, grouped(c.Times))
		}
		printTable(w, table)
	}
	if n := min(most, len(r.Functions)); n > 0 {
		table = &format.Table{Columns: format.Heads("function", "cycles", "share")}
		for _, f := range r.Functions[:n] {
			name := f.Name
			if name == "" {
				name = "(no symbol)"
			}
			table.Add(shortened(name), grouped(f.Total()), format.Percent(float64(f.Total())/float64(r.Cycles), 1))
		}
		printTable(w, table)
	}
}

// widestName is the maximum number of characters of a function's name in a table. Names of C++ and
// Rust contain all their types.
const widestName = 72

// shortened removes the middle of a name that is too wide for a table. The function's own name is
// near the beginning in C++, and at the end in Rust.
func shortened(name string) string {
	r := []rune(name)
	if len(r) <= widestName {
		return name
	}
	const left = "..."
	half := (widestName - len(left)) / 2
	return string(r[:half]) + left + string(r[len(r)-half:])
}

// printTable writes a table and an empty line. An error of w is left to the lines after it.
func printTable(w io.Writer, t *format.Table) {
	_ = t.Text(w, "", 0)
	fmt.Fprintln(w)
}

func guestCostCommand(stdout, stderr io.Writer) *cobra.Command {
	model := cost.Default()
	cmd := &cobra.Command{
		Use: "cost " + guestUse, Args: cobra.ArbitraryArgs,
		Short: "Run a program and estimate, by a model, what proving it would cost",
		Long: "Run a RISC-V program and estimate what proving the execution would cost: rows and cells of a\n" +
			"prover's tables, and their time at the speed of this module's own STARK, which is measured now,\n" +
			"in processor time. The model is linear. Table cpu has one row for each cycle, and each class of\n" +
			"instructions has a table with one row for each. Each word of a touched page adds one row, and so\n" +
			"does each unit of a precompile's work, such as a call or a block of a hash. The tables have as\n" +
			"many columns as SP1 counts for them; --columns sets others.\n\n" +
			"Below the model stand the rows that the run takes in the tables of guest prove (docs/zkvm.md). They\n" +
			"are counted while the program runs, and are those of the proof, if it has one. --section leaves them\n" +
			"out.\n" + guestLong,
	}
	flags := cmd.Flags()
	f := defineGuestRun(flags)
	columns := argument.Define(flags, "columns", argument.KindList, "", "NAME=COLUMNS, each once, of tables "+strings.Join(tables(model), ", "), "numbers of columns of tables, instead of the model's, such as cpu=79,mulmod=500")
	shard := argument.Define(flags, "shard", argument.KindNumber, fmt.Sprint(model.Shard), "powers of two", "maximum number of rows of one proof; fewer are padded to a power of two")
	speed := argument.Define(flags, "speed", argument.KindNumber, "", "1 to 2^60", "cells that a prover proves per second (default: this module's STARK, measured now in processor time)")
	section := argument.Define(flags, "section", argument.KindText, "", "a section of the guest", "estimate only this section, without touched pages")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		m := model
		var err error
		if m.Columns, err = typedColumns(columns, m); err != nil {
			return err
		}
		var perSecond uint64
		if speed.Given {
			if perSecond, err = speed.Number("speed", 1, 1<<60); err != nil {
				return err
			}
		}
		if m.Shard, err = shard.Number("shard", 1, 1<<40); err != nil {
			return err
		}
		if err := m.Check(); err != nil {
			return err
		}
		var counter *zkvm.Counter
		var uncounted error
		if !section.Given {
			f.watch = func(p *riscv.Program, o *riscv.Options) {
				if counter, uncounted = zkvm.NewCounter(p, *o); uncounted == nil {
					o.Trace = counter.Step
				}
			}
		}
		r, _, err := f.run(cmd.Context(), args, io.Discard, stderr)
		if err := ended(err); err != nil {
			return err
		}
		tally, touches := &r.Tally, r.Touches
		if section.Given {
			i := slices.IndexFunc(r.Sections, func(s riscv.Section) bool { return s.Name == section.Text })
			if i < 0 {
				return section.Refuse("section", section.Text)
			}
			tally, touches = &r.Sections[i].Tally, 0
		}
		says := []string{"at " + format.Prefixed(float64(perSecond)) + " cells per second, as --speed says"}
		atSpeed := float64(perSecond)
		if !speed.Given {
			measured, err := ownSpeed(cmd.Context())
			if err != nil {
				return err
			}
			atSpeed, says = measured.perSecond, measured.lines()
		}
		showCost(stdout, m, m.Tables(tally, touches), atSpeed, says...)
		switch {
		case section.Given:
			return nil
		case uncounted != nil:
			_, err := fmt.Fprintf(stdout, "\nguest prove, not counted: %v\n", uncounted)
			return err
		}
		c, err := counter.Cost()
		if err == nil {
			fmt.Fprintln(stdout)
			showTables(stdout, c)
		}
		return err
	}
	return cmd
}

const mostColumnBits = 20

// tables returns the names of the tables that a guest can have: the model's, and those of
// precompiles that the model has no columns for.
func tables(m cost.Model) []string {
	all := m.Names()
	for _, p := range precompile.All() {
		if !slices.Contains(all, p.Name) {
			all = append(all, p.Name)
		}
	}
	slices.Sort(all)
	return all
}

// typedColumns returns the model's columns, replaced by those that were typed.
func typedColumns(o *argument.Option, m cost.Model) (map[string]uint64, error) {
	columns := maps.Clone(m.Columns)
	if !o.Given {
		return columns, nil
	}
	known := tables(m)
	for item := range strings.SplitSeq(o.Text, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(item), "=")
		n, err := strconv.ParseUint(text, 10, mostColumnBits)
		at := slices.Index(known, name)
		if err != nil || at < 0 {
			return nil, o.Refuse("columns", item)
		}
		known = slices.Delete(known, at, at+1)
		columns[name] = n
	}
	return columns, nil
}

// showCost prints the tables of the model, and the speed that their times assume. Each line says
// that it is a model.
func showCost(w io.Writer, m cost.Model, tables []cost.Table, perSecond float64, speed ...string) {
	var unknown []string
	table := &format.Table{Columns: format.Heads("table", "rows", "padded", "columns", "cells", "time")}
	for _, t := range tables {
		if _, known := m.Columns[t.Name]; !known {
			unknown = append(unknown, t.Name)
		}
		table.Add(t.Name, grouped(t.Rows), grouped(t.Padded), grouped(t.Columns), grouped(t.Cells()), format.Time(1e9*float64(t.Cells())/perSecond))
	}
	all := cost.Cells(tables)
	table.Add("(all)", "", "", "", grouped(all), format.Time(1e9*float64(all)/perSecond))
	_ = table.Text(w, "a model, not proved:  ", 0) // an error of w is left to the lines after it
	if len(unknown) > 0 {
		fmt.Fprintf(w, "a model, not proved: without %s, for which it has no columns; --columns %s=N sets those of a unit\n", strings.Join(unknown, ", "), unknown[0])
	}
	for _, line := range speed {
		fmt.Fprintf(w, "a model, not proved: %s\n", line)
	}
}
