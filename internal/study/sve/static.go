package sve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/sve/counts"
	"github.com/zkbench/zkbench/internal/workload/sve"
)

// product is a function of the study. halves is the study's method for it on base SVE: four products of 32-bit halves.
const product, halves = "mult_128", "mult_128_halves"

// functions returns the study's ten functions and, after product, halves.
func functions() (names []string) {
	for _, name := range sve.Names() {
		names = append(names, name)
		if name == product {
			names = append(names, halves)
		}
	}
	return names
}

// bitsOf returns the width of a kernel's registers in bits, or 0 if the kernel does not fix it.
func bitsOf(kernel string) int { return map[string]int{"avx2": 256, "avx512": 512}[kernel] }

// results returns how many elements a function computes per unit.
func results(function string) int {
	if function == halves {
		function = product
	}
	for _, f := range sve.Functions(goldilocks.Portable()) {
		if f.Name == function {
			return f.Dst
		}
	}
	return 0
}

// perUnit returns the instructions per unit of a function on a kernel with registers of the given width, counted in the
// text of the loop. It returns 0 if the kernel does not have the function.
func perUnit(kernel, function string, bits int) float64 {
	f := counts.StaticOf(kernel, function)
	if f == nil {
		return 0
	}
	return float64((f.Compute+f.Memory+f.Control)*results(function)) / float64(f.Registers*bits/64)
}

// printedLoop has the instructions for one register that the study prints for a loop: with loads and stores, which may be
// 0, and without.
type printedLoop struct {
	kernel          string // of ours that corresponds
	name            string // the study's
	memory, compute int
	note            string // for the end of the figures
}

// published returns the study's loops by function. Section 3.1 gives 12 for AVX's reduction, section 4.3 gives 14.
func published() map[string][]printedLoop {
	return map[string][]printedLoop{
		"add":           {{"avx2", "AVX", 15, 9, ""}, {"sve", "SVE", 10, 6, " [^seven]"}},
		"sub":           {{"avx2", "AVX", 15, 9, ""}},
		"reduce_128_64": {{"avx2", "AVX", 0, 12, " or 14 [^reduce]"}, {"sve2", "SVE2", 0, 17, ""}},
		product:         {{"sve2", "SVE2", 0, 2, ""}, {"sve", "SVE", 0, 18, ""}},
	}
}

// publishedCell formats the study's loops of a function for a table.
func publishedCell(function string) string {
	var all []string
	for _, p := range published()[function] {
		memory := study.None
		if p.memory > 0 {
			memory = fmt.Sprint(p.memory)
		}
		all = append(all, fmt.Sprintf("%s %s / %d%s", p.name, memory, p.compute, p.note))
	}
	return cmp.Or(strings.Join(all, ", "), study.None)
}

// staticTable returns the instructions of each function's loop.
func staticTable() *study.Table {
	kernels := []string{"avx2", "avx512", "sve", "sve2"}
	t := &study.Table{Left: 1, Head: append([]string{"function"}, kernels...)}
	t.Head = append(t.Head, "the study")
	for _, name := range functions() {
		row := []string{name}
		for _, k := range kernels {
			cell := study.None
			if f := counts.StaticOf(k, name); f != nil {
				cell = fmt.Sprintf("%d / %d", f.Compute+f.Memory, f.Compute)
				if f.Registers > 1 {
					cell += fmt.Sprintf(" for %d", f.Registers)
				}
			}
			row = append(row, cell)
		}
		t.Add(append(row, publishedCell(name))...)
	}
	return t
}

// ratios returns the instructions of figures 6 and 7: those for the same data, relative to AVX2.
func ratios() (names []string, rows map[string][]float64) {
	rows = make(map[string][]float64)
	for _, name := range functions() {
		base := perUnit("avx2", name, bitsOf("avx2"))
		if base == 0 {
			continue
		}
		names = append(names, name)
		for _, k := range compared() {
			rows[name] = append(rows[name], perUnit(k.kernel, name, k.bits)/base)
		}
	}
	return names, rows
}

// vectors is a kernel with a width of its registers.
type vectors struct {
	kernel string
	bits   int
}

func (v vectors) String() string { return fmt.Sprintf("%s, %d bits", v.kernel, v.bits) }

// compared returns the vectors that are compared with AVX2: those of Graviton3 and Graviton4, and AVX-512.
func compared() []vectors { return []vectors{{"sve", 256}, {"sve2", 128}, {"avx512", 512}} }

func ratioTable() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"function"}}
	for _, k := range compared() {
		t.Head = append(t.Head, k.String())
	}
	names, rows := ratios()
	for _, name := range names {
		row := []string{name}
		for _, v := range rows[name] {
			row = append(row, study.Times(v))
		}
		t.Add(row...)
	}
	return t
}

// executedTable returns the instructions of a permutation under QEMU.
func executedTable() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"kernel", "bits", "instructions per permutation", "128 bits = 100 %"}}
	first := make(map[string]float64)
	for _, p := range counts.Executed() {
		if first[p.Kernel] == 0 {
			first[p.Kernel] = p.Instructions
		}
		t.Add(p.Kernel, fmt.Sprint(p.Bits), study.Number(p.Instructions), study.Percent(p.Instructions/first[p.Kernel]))
	}
	return t
}

// unitTable returns the instructions of the functions under QEMU.
func unitTable() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"function"}}
	units := counts.ExecutedUnits()
	var order []vectors
	cells := make(map[string]map[vectors]string)
	for _, u := range units {
		k := vectors{u.Kernel, u.Bits}
		if !slices.Contains(order, k) {
			order = append(order, k)
			t.Head = append(t.Head, k.String())
		}
		if cells[u.Function] == nil {
			cells[u.Function] = make(map[vectors]string)
		}
		cells[u.Function][k] = study.Number(u.Instructions)
	}
	for _, name := range functions() {
		if len(cells[name]) == 0 {
			continue
		}
		row := []string{name}
		for _, k := range order {
			row = append(row, cmp.Or(cells[name][k], study.None))
		}
		t.Add(row...)
	}
	return t
}
