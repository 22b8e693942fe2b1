package sve_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/sve"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/studytest"
	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/goldilocks"
)

// made returns a record of a machine with AVX-512 and two processors.
func made(part, name string, round, procs int, axes record.Axes, metrics map[record.Quantity]float64) *record.Record {
	r := &record.Record{
		Time: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), Workload: name, Case: axes.String(), Axes: axes, Status: record.OK,
		Process: record.Process{Side: part, Index: round},
		Env:     record.Env{OS: "linux", Arch: "amd64", CPU: "Some Processor", Path: "avx512", Cores: 2, GOMAXPROCS: procs, Go: "go1.26.8"},
	}
	for q, v := range metrics {
		r.Metrics = append(r.Metrics, q.Metric(v))
	}
	return r
}

func axes(pairs ...string) (a record.Axes) {
	for i := 0; i < len(pairs); i += 2 {
		a = append(a, record.Axis{Key: pairs[i], Value: pairs[i+1]})
	}
	return a
}

// records returns five rounds on a processor of 2 GHz whose kernels are 1, 2 and 4 times as fast. counted says whether
// its counters can be read.
func records(counted bool) (recs []*record.Record) {
	kernels := []string{"portable", "avx2", "avx512"}
	for round := range 5 {
		// The mean of the rounds is 1, the deviation 1.58 %.
		slower := 1 + float64(round-2)/100
		for name, perCycle := range map[string]float64{"scalar-chain": 1, "avx2-add": 3, "avx2-mul": 2, "avx512-add": 2} {
			m := map[record.Quantity]float64{record.InLoop: 1000, record.LatencyP50: 1000 / perCycle / 2 * slower}
			if counted {
				m[record.Cycles], m[record.Instructions] = 1000/perCycle, 1010
			}
			recs = append(recs, made("instructions", "VectorInstruction", round, 1, axes("loop", name), m))
		}
		for i, k := range kernels {
			faster := float64(int(1) << i)
			function := func(workloadName string, unit record.Quantity, units, ns float64, a record.Axes) {
				m := map[record.Quantity]float64{unit: units, record.LatencyP50: units * ns / faster * slower}
				if counted {
					m[record.Cycles], m[record.Instructions] = 2*units*ns/faster, 6*units*ns/faster
				}
				recs = append(recs, made("functions", workloadName, round, 1, a, m))
			}
			function("GoldilocksOps", record.Units, 1024, 1, axes("function", "add", "kernel", k))
			function("GoldilocksOps", record.Units, 1024, 8, axes("function", "spmv_4x12", "kernel", k))
			function("PoseidonPermutation", record.Permutations, 1024, 1600, axes("kernel", k))
			for _, leaves := range []int{1024, 4096} {
				for cpus := 1; cpus <= 2; cpus++ {
					ns := float64(2*leaves-1) * 1600 / faster / float64(cpus) * slower
					recs = append(recs, made("trees", "MerkleBuild", round, cpus, axes("leaves", strconv.Itoa(leaves), "kernel", k), map[record.Quantity]float64{record.LatencyP50: ns}))
				}
			}
		}
	}
	return recs
}

// TestPage compares the page of made-up records with a golden one; it shows every chart
// once, and no other.
func TestPage(t *testing.T) {
	t.Parallel()
	recs := records(false)
	studytest.Golden(t, sve.Study(), recs)
	golden.Equal(t, "images", 5, studytest.Images(t, sve.Study(), recs))
}

// TestFigures: means, deviations and ratios worked out by hand.
func TestFigures(t *testing.T) {
	t.Parallel()
	for _, counted := range []bool{false, true} {
		text := studytest.Page(t, sve.Study(), records(counted))
		golden.Contains(t, text,
			// 500 ns for 1000 additions that wait for each other: 2 GHz.
			"| **ours**, Some Processor | amd64, portable, avx2, avx512 | – | 2 | 2 | 512 |",
			"| avx2-add | 6.00 ± 1.6 % | 3", // a ns, a cycle
			"| spmv_4x12 | avx2 | 4.000 ± 1.6 % |", "| function | kernel | time per unit (ns) | instructions |",
			"| permutation | portable | 1,600 ± 1.6 % | ",
			"| 4,096 | 2 | 6.553 ± 1.6 % | 3.276 ± 1.6 % | 1.638 ± 1.6 % | 2,500,000 |", "| leaves | processors | portable (ms) | avx2 (ms) | avx512 (ms) |",
		)
		// 3 instructions for a cycle of 0.5 ns by the counters.
		golden.Equal(t, "a row of counters", counted, strings.Contains(text, "| add | portable | 1.000 ± 1.6 % | 6 | 2 | 3 | 200.0 % |"))
	}
}

// TestAnswer: the page begins with the times of the largest tree, and names the functions in which AVX-512 is slower than
// AVX2, and those whose rounds deviate.
func TestAnswer(t *testing.T) {
	t.Parallel()
	recs := records(false)
	for _, slower := range []bool{false, true} {
		if slower {
			for _, r := range recs {
				if study.Axis(r, "function") == "add" && study.Axis(r, "kernel") == "avx512" {
					for i := range r.Metrics {
						if r.Metrics[i].Quantity == record.LatencyP50 {
							r.Metrics[i].Value = 1024 * float64(1+r.Process.Index) / 3 // the mean is 1 ns
						}
					}
				}
			}
		}
		text := studytest.Page(t, sve.Study(), recs)
		golden.Contains(t, text, "\nOn one processor, a tree of 4,096 leaves takes 3.276 ms with avx512, 6.553 ms with avx2, 13.11 ms with portable. ",
			"Our loops take more instructions than the study's in 1 of 7 figures: reduce_128_64 with avx2 (16 instructions, the study 12 instructions).")
		want := "AVX-512, which builds the study's trees fastest (section 4.2), is slower here than AVX2 in none of 3 figures."
		if slower {
			want = "AVX-512, which builds the study's trees fastest (section 4.2), is slower here than AVX2 in 1 of 3 figures: add (1.000 ns, AVX2 0.500 ns)."
		}
		golden.Contains(t, text, want)
		golden.Equal(t, "a sentence about rounds that deviate", slower, strings.Contains(text, "In 1 of 9 rows the rounds deviate by more than 10.0 %, at most by 52.7 %."))
	}
}

// TestPageOfLess: there is a page of no records, and of each part alone; fewer rounds than the
// study's are told.
func TestPageOfLess(t *testing.T) {
	t.Parallel()
	few := slices.DeleteFunc(records(true), func(r *record.Record) bool { return r.Process.Index > 2 })
	studytest.IncompletePages(t, sve.Study(), few, "sve-leaves.svg")
	golden.Contains(t, studytest.Page(t, sve.Study(), few), "at least 5 rounds")
}

// TestPlan: every kernel and every number of processors has its trees.
func TestPlan(t *testing.T) {
	t.Parallel()
	s := sve.Study()
	if s.Runs < 5 {
		t.Errorf("%d rounds by default; the study has at least five", s.Runs)
	}
	o := study.Options{Parts: s.PartNames(), Rounds: 2, Workers: 3}
	trees := make(map[string]int)
	for _, j := range studytest.Plan(t, s, append(workloads.Defs(), s.Defs...), o, "") {
		if j.Workload == "MerkleBuild" && j.Case.Get("leaves") == "4194304" {
			trees[fmt.Sprintf("%s, %d", j.Case.Get("kernel"), j.Procs)]++
		}
	}
	for _, k := range goldilocks.Kernels() {
		for _, cpus := range []int{1, 2, 3} {
			at := fmt.Sprintf("%s, %d", k, cpus)
			golden.Equal(t, "the largest trees with "+at, o.Rounds, trees[at])
		}
	}
}

// TestVectorInstruction: each loop runs as a workload, and others are refused.
func TestVectorInstruction(t *testing.T) {
	t.Parallel()
	d := sve.VectorInstruction()
	for _, loop := range d.Axes[0].Default {
		i := must.Get(d.New(t.Context(), workload.NewCase(record.Axis{Key: "loop", Value: loop}), 1))(t)
		input := must.Get(i.Input(t.Context(), 0))(t)
		output := must.Get(i.Run(t.Context(), input))(t)
		must.Do(t, i.Check(t.Context(), input, output), loop)
		if m := must.Get(i.Metrics(t.Context()))(t); len(m) == 0 || m[0].Value < 1000 {
			t.Errorf("%s: %v", loop, m)
		}
		must.Do(t, i.Close())
	}
	_, err := d.New(t.Context(), workload.NewCase(record.Axis{Key: "loop", Value: "mmx-add"}), 1)
	golden.Contains(t, fmt.Sprint(err), `loop: "mmx-add" is not accepted`)
}

// TestWhatIf: what the study finds of wider vectors follows from its model, with the
// instructions of our kernel.
func TestWhatIf(t *testing.T) {
	t.Parallel()
	w := sve.DefaultWhatIf()
	must.Do(t, w.Check())
	rival := make(map[string]float64)
	for _, r := range w.Against {
		rival[r.Name] = r.Time
	}
	if at := w.TimeAt(3.7, 128); at <= rival["AVX-512"] {
		t.Errorf("a faster clock alone makes it %v", at)
	}
	if at := w.TimeAt(2.8, 256); at >= rival["AVX2"] {
		t.Errorf("256 bits make it %v", at)
	}
	if at := w.TimeAt(2.8, 512); at >= rival["AVX-512"] {
		t.Errorf("512 bits make it %v", at)
	}
	golden.Equal(t, "rows", len(w.Clocks)*len(w.Widths), len(w.Table().Rows))
	for what, change := range map[string]func(*sve.WhatIf){
		"clocks":  func(w *sve.WhatIf) { w.Clocks = []float64{2.8, 0} },
		"widths":  func(w *sve.WhatIf) { w.Widths = []int{384} },
		"against": func(w *sve.WhatIf) { w.Against = []sve.Rival{{Name: "x", Time: -1}} },
		"time":    func(w *sve.WhatIf) { w.Time = 0 },
	} {
		w := sve.DefaultWhatIf()
		change(&w)
		golden.Contains(t, fmt.Sprint(w.Check()), what+": ")
	}
}
