package sve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/sve/counts"
	"github.com/zkbench/zkbench/internal/workload/sve"
)

// product is a function of the study, and halves its form for base SVE: by four products of
// 32-bit halves.
const product, halves = "mult_128", "mult_128_halves"

// functions are the study's ten, and its form of one of them.
func functions() (names []string) {
	for _, name := range sve.Names() {
		names = append(names, name)
		if name == product {
			names = append(names, halves)
		}
	}
	return names
}

// bitsOf is the width of registers where the kernel fixes it.
func bitsOf(kernel string) int { return map[string]int{"avx2": 256, "avx512": 512}[kernel] }

// results are how many elements a unit of a function gives.
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

// perUnit is how many instructions a unit of a function takes on a kernel with registers of
// so many bits, by the text of its loop; 0: the kernel has none.
func perUnit(kernel, function string, bits int) float64 {
	f := counts.StaticOf(kernel, function)
	if f == nil {
		return 0
	}
	return float64((f.Compute+f.Memory+f.Control)*results(function)) / float64(f.Registers*bits/64)
}

// published are the study's counts of a register: with loads and stores, and without.
// Section 3.1 gives 12 for AVX's reduction, section 4.3 gives 14.
var published = map[string]string{
	"add":           "AVX 15 / 9, SVE 10 / 6 [^seven]",
	"sub":           "AVX 15 / 9",
	"reduce_128_64": "AVX – / 12 or 14 [^reduce], SVE2 – / 17",
	product:         "SVE2 – / 2, SVE – / 18",
}

// staticTable has the instructions of each function's loop.
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
		t.Add(append(row, cmp.Or(published[name], study.None))...)
	}
	return t
}

// ratios are the instructions of figures 6 and 7: those for the same data, over AVX2's.
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

// against is a kernel that figures 6 and 7 hold against AVX2.
type against struct {
	kernel string
	bits   int
}

func (a against) String() string { return fmt.Sprintf("%s, %d bits", a.kernel, a.bits) }

// compared are Graviton3's and Graviton4's vectors, and this machine's widest.
func compared() []against { return []against{{"sve", 256}, {"sve2", 128}, {"avx512", 512}} }

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

// executedTable has the instructions of a permutation under QEMU.
func executedTable() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"kernel", "bits", "instructions a permutation", "of those at 128 bits"}}
	first := make(map[string]float64)
	for _, p := range counts.Executed() {
		if first[p.Kernel] == 0 {
			first[p.Kernel] = p.Instructions
		}
		t.Add(p.Kernel, fmt.Sprint(p.Bits), study.Number(p.Instructions), study.Percent(p.Instructions/first[p.Kernel]))
	}
	return t
}

// unitTable has the instructions of the functions under QEMU.
func unitTable() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"function"}}
	units := counts.ExecutedUnits()
	var order []against
	cells := make(map[string]map[against]string)
	for _, u := range units {
		k := against{u.Kernel, u.Bits}
		if !slices.Contains(order, k) {
			order = append(order, k)
			t.Head = append(t.Head, k.String())
		}
		if cells[u.Function] == nil {
			cells[u.Function] = make(map[against]string)
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
