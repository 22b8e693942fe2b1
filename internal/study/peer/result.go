package peer

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Result is the result of a comparison: all samples in the order in which they were measured, and the statistics of each
// case.
type Result struct {
	Samples []Sample
	Cases   []CaseResult
	Skipped []Skip
	Failed  []Failure
}

// CaseResult has the results of one case for all programs that have it.
type CaseResult struct {
	Case string
	// Base is the program that the case's ratios divide by: the first of our programs with a result. It is empty if
	// none of them has one.
	Base     string
	Programs []ProgramResult // in the order of the comparison's programs
}

// ProgramResult is the result of one program in a case. Times are in ns per operation.
type ProgramResult struct {
	Program          string
	Rounds           int // rounds measured
	Median, Min, Max float64
	// MAD is the median absolute deviation from the median, in percent of it.
	MAD float64
	// Ratio is this program's time divided by the base's. It is nil for the base itself, and if no round has both.
	Ratio *Ratio
	// Extra has the median of every other column, by unit.
	Extra map[string]float64
}

// Ratio is the time of a program divided by the time of the base (CaseResult.Base). This quotient is computed for each
// round; the fields are the median and the 10th and 90th percentiles of the rounds' quotients.
type Ratio struct {
	Rounds           int // rounds that have both programs
	Median, P10, P90 float64
}

// summarize computes the cases from the samples.
func (r *Result) summarize(work []caseWork, programs []Program) {
	byCase := map[job][]Sample{}
	index := make(map[string]int, len(programs))
	for i, p := range programs {
		index[p.Name] = i
	}
	for _, s := range r.Samples {
		k := job{s.Case, index[s.Program]}
		byCase[k] = append(byCase[k], s)
	}
	for _, w := range work {
		c := CaseResult{Case: w.name}
		base := map[int]float64{} // by round
		for _, p := range w.programs {
			if programs[p].Ours && len(base) == 0 {
				for _, s := range byCase[job{w.name, p}] {
					c.Base, base[s.Round] = s.Program, s.NsPerOp
				}
			}
		}
		for _, p := range w.programs {
			samples := byCase[job{w.name, p}]
			if len(samples) == 0 {
				continue
			}
			pr := summarizeProgram(programs[p].Name, samples)
			if pr.Program != c.Base {
				pr.Ratio = ratio(samples, base)
			}
			c.Programs = append(c.Programs, pr)
		}
		if len(c.Programs) > 0 {
			r.Cases = append(r.Cases, c)
		}
	}
}

func summarizeProgram(name string, samples []Sample) ProgramResult {
	ns := make([]float64, len(samples))
	extra := map[string][]float64{}
	for i, s := range samples {
		ns[i] = s.NsPerOp
		for unit, v := range s.Extra {
			extra[unit] = append(extra[unit], v)
		}
	}
	p := ProgramResult{
		Program: name,
		Rounds:  len(samples),
		Median:  stat.Median(ns),
		Min:     slices.Min(ns),
		Max:     slices.Max(ns),
	}
	deviations := make([]float64, len(ns))
	for i, v := range ns {
		deviations[i] = math.Abs(v - p.Median)
	}
	p.MAD = 100 * stat.Median(deviations) / p.Median
	if len(extra) > 0 {
		p.Extra = make(map[string]float64, len(extra))
		for unit, v := range extra {
			p.Extra[unit] = stat.Median(v)
		}
	}
	return p
}

func ratio(theirs []Sample, base map[int]float64) *Ratio {
	var ratios []float64
	for _, s := range theirs {
		if ns, ok := base[s.Round]; ok {
			ratios = append(ratios, s.NsPerOp/ns)
		}
	}
	if len(ratios) == 0 {
		return nil
	}
	return &Ratio{
		Rounds: len(ratios),
		Median: stat.Median(ratios),
		P10:    stat.Quantile(ratios, 0.1),
		P90:    stat.Quantile(ratios, 0.9),
	}
}

// Find returns the result of a program in the case with the given name. It returns false if there is no such result.
func (r *Result) Find(program, name string) (ProgramResult, bool) {
	for _, c := range r.Cases {
		if c.Case != name {
			continue
		}
		for _, p := range c.Programs {
			if p.Program == program {
				return p, true
			}
		}
	}
	return ProgramResult{}, false
}

// WriteText writes the comparison as text. For each case it writes a line for each program. After the cases it writes
// the programs that were skipped and the cases that failed.
func (r *Result) WriteText(w io.Writer) error {
	var text bytes.Buffer
	if len(r.Cases) > 0 {
		fmt.Fprintln(&text, "Times are per operation. The ratio is a program's time divided by that of the base in the same")
		fmt.Fprint(&text, "round, so above 1 the program is slower. The base is our first program that has the case.\n\n")
		if err := r.writeCases(&text); err != nil {
			return err
		}
	}
	if len(r.Cases) > 0 && len(r.Skipped)+len(r.Failed) > 0 {
		fmt.Fprintln(&text)
	}
	for _, s := range r.Skipped {
		fmt.Fprintln(&text, s)
	}
	for _, f := range r.Failed {
		fmt.Fprintf(&text, "failed %s %s in round %d: %v\n", f.Program, f.Case, f.Round+1, f.Err)
	}
	_, err := w.Write(text.Bytes())
	return err
}

// writeCases aligns the rows of all cases with each other, and then writes them below the headings of their cases.
func (r *Result) writeCases(text *bytes.Buffer) error {
	table := &format.Table{Columns: format.Heads("program", "rounds", "median", "min..max", "MAD", "ratio", "p10..p90", "KiB/op", "allocs", "peak MiB", "")}
	for _, c := range r.Cases {
		for _, p := range c.Programs {
			ratio, spread := "", ""
			switch {
			case p.Program == c.Base:
				ratio = "base"
			case p.Ratio != nil:
				ratio = fmt.Sprintf("%.2fx", p.Ratio.Median)
				if p.Ratio.Rounds >= MinRounds {
					spread = fmt.Sprintf("%.2f..%.2f", p.Ratio.P10, p.Ratio.P90)
				}
			}
			table.Rows = append(table.Rows, format.Row{Title: c.Case, Cells: []string{
				p.Program, strconv.Itoa(p.Rounds), format.PlainTime(p.Median), format.PlainTime(p.Min) + ".." + format.PlainTime(p.Max),
				fmt.Sprintf("%.1f %%", p.MAD), ratio, spread,
				p.memory(unitBytes, 1<<10), p.memory(unitAllocs, 1), p.memory(UnitPeak, 1<<20), formatExtra(p.Extra),
			}})
		}
	}
	return table.Text(text, "  ", 0)
}

// memory formats a cell of the table. It returns an empty string if the program did not report the unit.
func (p *ProgramResult) memory(unit string, divisor float64) string {
	v, ok := p.Extra[unit]
	if !ok {
		return ""
	}
	return fmt.Sprintf("%.0f", v/divisor)
}

// WriteBenchmarks writes the medians in the Go benchmark format: one line for each case and program, below a line with
// the key "program". The number of iterations is the number of rounds.
func (r *Result) WriteBenchmarks(w io.Writer) error {
	var text bytes.Buffer
	program := ""
	for _, c := range r.Cases {
		for _, p := range c.Programs {
			if p.Program != program {
				program = p.Program
				fmt.Fprintf(&text, "program: %s\n", program)
			}
			fmt.Fprintf(&text, "Benchmark%s %d %.1f %s", c.Case, p.Rounds, p.Median, unitTime)
			for _, unit := range slices.Sorted(maps.Keys(p.Extra)) {
				fmt.Fprintf(&text, " %.0f %s", p.Extra[unit], unit)
			}
			fmt.Fprintln(&text)
		}
	}
	_, err := w.Write(text.Bytes())
	return err
}

// formatExtra formats the units that have no column of their own in the table.
func formatExtra(extra map[string]float64) string {
	var parts []string
	for _, unit := range slices.SortedFunc(maps.Keys(extra), cmp.Compare[string]) {
		if unit == unitBytes || unit == unitAllocs || unit == UnitPeak {
			continue
		}
		format := "%.6g %s"
		if v := extra[unit]; v == math.Trunc(v) { // a size: all digits, no exponent
			format = "%.0f %s"
		}
		parts = append(parts, fmt.Sprintf(format, extra[unit], unit))
	}
	return strings.Join(parts, " ")
}
