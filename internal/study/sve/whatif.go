package sve

import (
	"fmt"
	"strconv"

	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/sve/counts"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// WhatIf is a Model together with the clock frequencies and the widths of vectors for which it is evaluated, as in
// figure 8 of the study.
type WhatIf struct {
	Model
	Clocks  []float64 // GHz
	Widths  []int     // bits
	Against []Rival
}

// Rival is a processor with which the modelled processors are compared.
type Rival struct {
	Name string
	Time float64 // in the model's unit of time
}

// String returns the rival as text in the form name=time, as on a command line.
func (r Rival) String() string { return fmt.Sprintf("%s=%v", r.Name, r.Time) }

// Figures that the model starts from. Graviton4 takes 1.6 times, and Axion 1.4 times, as long as the x86 processors with
// AVX-512 (the study's abstract). In the study's library, AVX2 takes 1.3 times as long as AVX-512 for a tree of 2^20
// leaves on one core of a Xeon; that was measured for this project (2964 and 2279 ms), because the study has only a
// chart.
const (
	graviton4   = 1.6
	axion       = 1.4
	avx2Slower  = 1.3
	baseClock   = 2.8
	baseWidth   = 128
	baseKernel  = "sve2"
	rivalAVX512 = "AVX-512"
	rivalAVX2   = "AVX2"
)

// Shares of power and cost. These are assumptions: the study has such shares, but its text does not show their values.
const (
	dynamicShare   = 0.7
	processorShare = 0.6
	energyShare    = 0.1
)

// DefaultWhatIf returns the model and the values of the study's figure 8, except that the numbers of instructions are
// those of this project's own kernel.
func DefaultWhatIf() WhatIf {
	return WhatIf{
		Model: Model{
			Time: graviton4, Clock: baseClock, Width: baseWidth, Instructions: Instructions(baseKernel),
			Dynamic: dynamicShare, Processor: processorShare, Energy: energyShare,
		},
		Clocks:  []float64{2.8, 3.1, 3.4, 3.7},
		Widths:  []int{128, 256, 512},
		Against: []Rival{{rivalAVX2, avx2Slower}, {rivalAVX512, 1}},
	}
}

// Instructions returns a map from the width of the vectors, in bits, to the number of instructions that a kernel
// executes for a permutation of Poseidon. The instructions were counted under QEMU. The map is empty if the kernel was
// not counted.
func Instructions(kernel string) map[int]float64 {
	byWidth := make(map[int]float64)
	for _, p := range counts.Executed() {
		if p.Kernel == kernel {
			byWidth[p.Bits] = p.Instructions
		}
	}
	return byWidth
}

// Check returns an *argument.ValueError that names the first field that is out of range, or nil if all fields are in
// range.
func (w *WhatIf) Check() error {
	if err := w.Model.Check(); err != nil {
		return err
	}
	for _, c := range w.Clocks {
		if !positive(c) {
			return wrong("clocks", c, "more than 0 GHz")
		}
	}
	for _, bits := range w.Widths {
		if !positive(w.Instructions[bits]) {
			return wrong("widths", bits, "widths of which instructions are known")
		}
	}
	for _, r := range w.Against {
		if !positive(r.Time) {
			return wrong("against", r.Time, "times above 0")
		}
	}
	return nil
}

// Table returns a table with a row for each width of vectors and each clock frequency.
func (w *WhatIf) Table() *study.Table {
	t := &study.Table{Head: []string{"bits", "GHz", "instructions", "time", "times faster", "power", "cost of ownership"}}
	for _, r := range w.Against {
		t.Head = append(t.Head, "time, "+r.Name+" = 100 %")
	}
	for _, bits := range w.Widths {
		for _, clock := range w.Clocks {
			factor := w.Factor(clock, bits)
			row := []string{
				fmt.Sprint(bits), study.Number(clock), study.Number(w.Instructions[bits]), study.Number(w.TimeAt(clock, bits)), study.Times(factor),
				fmt.Sprintf("%+.1f %%", 100*(w.Power(factor)-1)), fmt.Sprintf("%+.1f %%", 100*(w.Cost(factor)-1)),
			}
			for _, r := range w.Against {
				row = append(row, study.Percent(w.TimeAt(clock, bits)/r.Time))
			}
			t.Add(row...)
		}
	}
	return t
}

// Figure returns a bar chart of the times. It has a group of bars for each width of vectors, and one group for the
// rivals.
func (w *WhatIf) Figure() *plot.Bars {
	b := &plot.Bars{
		Title: "What if the vectors were wider and the clock faster", Unit: "time",
		Notes: []string{"the model of the study's section 5"},
	}
	bar := func(name string, time float64) plot.Bar {
		rounded, _ := strconv.ParseFloat(strconv.FormatFloat(time, 'g', 3, 64), 64) // its own output always parses
		return plot.Bar{Name: name, Value: rounded}
	}
	for _, bits := range w.Widths {
		group := plot.BarGroup{Name: fmt.Sprintf("%d bits", bits)}
		for _, clock := range w.Clocks {
			group.Rows = append(group.Rows, bar(fmt.Sprintf("%v GHz", clock), w.TimeAt(clock, bits)))
		}
		b.Groups = append(b.Groups, group)
	}
	if len(w.Against) > 0 {
		group := plot.BarGroup{Name: "to compare with"}
		for _, r := range w.Against {
			group.Rows = append(group.Rows, bar(r.Name, r.Time))
		}
		b.Groups = append(b.Groups, group)
	}
	return b
}
