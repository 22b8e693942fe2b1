package sve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/sve/counts"
)

// answer returns the beginning of the page, which is empty if there are no records.
func (d *data) answer() (a study.Answer) {
	if len(d.recs) == 0 {
		return a
	}
	a.Sentences = []string{
		d.largestTree(),
		fmt.Sprintf("The study's answer is that Graviton4 and Axion take %v and %v times as long as x86 processors with AVX-512 (abstract). No ARM processor was timed here; for the same data, our loops need %s times the instructions of AVX2 with SVE of 256 bits, and %s times with SVE2 of 128 bits.",
			graviton4, axion, spanOf(0), spanOf(1)),
	}
	a.Worse = []string{
		study.Worse("Our loops take more instructions than the study's", "the study", instructionBesides()),
		study.Worse("AVX-512, which builds the study's trees fastest (section 4.2), is slower here than AVX2", "AVX2", d.widest()),
	}
	return a
}

// largestTree returns a sentence about the largest tree on one processor, or an empty string if it was not measured.
func (d *data) largestTree() string {
	sizes := d.distinct(leavesOf)
	if len(sizes) == 0 {
		return ""
	}
	leaves := sizes[len(sizes)-1]
	var times []string
	for _, k := range slices.Backward(d.kernels()) {
		if s := d.trees(leaves, 1, k); len(s) > 0 {
			times = append(times, study.Time(s.mean())+" with "+k)
		}
	}
	if len(times) == 0 {
		return ""
	}
	return fmt.Sprintf("On one processor, a tree of %s leaves takes %s.", format.Count(float64(leaves)), strings.Join(times, ", "))
}

// spanOf returns the smallest and the largest ratio of the vectors with index i in compared.
func spanOf(i int) string {
	var all []float64
	names, rows := ratios()
	for _, name := range names {
		if v := rows[name][i]; v > 0 {
			all = append(all, v)
		}
	}
	return study.Number(slices.Min(all)) + " to " + study.Number(slices.Max(all))
}

// instructionBesides returns the instructions that the study prints for its loops, without loads and stores, beside ours.
func instructionBesides() (all []study.Beside) {
	count := func(v float64) string { return format.Plural(int(v), "instruction") }
	for _, name := range functions() {
		for _, p := range published()[name] {
			if f := counts.StaticOf(p.kernel, name); f != nil {
				all = append(all, study.Beside{What: name + " with " + p.kernel, Ours: float64(f.Compute), Theirs: float64(p.compute), Text: count})
			}
		}
	}
	return all
}

// widest returns the times of the functions on AVX-512 beside those on AVX2, in ns per unit.
func (d *data) widest() (all []study.Beside) {
	for _, name := range append(functions(), permutationName) {
		b := study.Beside{What: name, Text: study.Time}
		if ns := d.function(name, "avx512").ns; len(ns) > 0 {
			b.Ours = ns.mean()
		}
		if ns := d.function(name, "avx2").ns; len(ns) > 0 {
			b.Theirs = ns.mean()
		}
		all = append(all, b)
	}
	return all
}

// steady is the relative standard deviation up to which a row of the table of functions is taken to be steady.
const steady = 0.1

// varies returns a sentence that says in how many rows of the table of functions the rounds deviate by more than steady. It
// returns an empty string if there is no such row.
func (d *data) varies() string {
	rows, most := 0, 0.0
	var all int
	for _, name := range append(functions(), permutationName) {
		for _, k := range d.kernels() {
			ns := d.function(name, k).ns
			if len(ns) < 2 {
				continue
			}
			all++
			deviation := stat.Deviation(ns) / ns.mean()
			if deviation > steady {
				rows++
			}
			most = max(most, deviation)
		}
	}
	if rows == 0 {
		return ""
	}
	return fmt.Sprintf("In %d of %s the rounds deviate by more than %s, at most by %s.", rows, format.Plural(all, "row"), study.Percent(steady), study.Percent(most))
}
