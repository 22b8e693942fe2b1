package sve

import (
	"slices"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/loops"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/sve"
)

// The parts of the study.
const (
	partTrees        = "trees"
	partFunctions    = "functions"
	partInstructions = "instructions"
)

// runs is the study's number of rounds: "at least five times" (section 4.1).
const runs = 5

// Name is the study's name on the command line.
const Name = "sve"

// Study returns the study "On the Performance of Cloud-based ARM SVE for Zero-Knowledge Proving Systems", OKX, 2025.
func Study() study.Study {
	parts := []study.Part{
		{Name: partInstructions, About: "vector additions and multiplications in isolation, and the clock"},
		{Name: partFunctions, About: "the ten functions and the permutation on every kernel, one processor"},
		{Name: partTrees, About: "trees of 2^10 to 2^22 leaves on every kernel and on 1, 2, 4, ... processors"},
	}
	var names []string
	for _, p := range parts {
		names = append(names, p.Name)
	}
	return study.Study{
		Name:  Name,
		Short: "Poseidon trees on vector extensions beside OKX's study of ARM SVE of 2025",
		Long:  "Goldilocks, Poseidon and Merkle trees on this machine's vector extensions, beside OKX's\nstudy of ARM's SVE; its what-if model of wider vectors is zkbench study sve model.",
		Parts: parts, Rounds: names, Runs: runs, Resumes: true,
		Defs: []workload.Def{VectorInstruction()}, Plan: plan, Page: page, Charts: charts,
	}
}

// window is how long a function or an instruction is measured in one process.
const window = 200 * time.Millisecond

// perHash is about the time of a permutation on the slowest kernel.
const perHash = 2 * time.Microsecond

// plan plans the cases of one round after the other. Within a round, the kernels of a case run one after the other.
func plan(defs []workload.Def, o study.Options) ([]suite.Case, []string) {
	p := study.Planner{Defs: defs}
	for round := range o.Rounds {
		for _, part := range o.Parts {
			switch part {
			case partInstructions:
				for _, l := range loops.All() {
					p.Add(timedJob(part, round), instructionName, map[string]string{loopKey: loopName(l)})
				}
			case partFunctions:
				planFunctions(&p, round)
			case partTrees:
				planTrees(&p, round, o)
			}
		}
	}
	return p.Cases, p.Missing
}

func timedJob(part string, round int) suite.Case {
	s := measure.DefaultSettings(1, window)
	s.Samples = 1
	s.Check = runner.Check{Policy: runner.CheckSample, N: 1}
	return suite.Case{
		Side: part, Repetition: round, Expected: s.Warmup.Time + s.Duration + 100*time.Millisecond,
		Job: measure.Job{Settings: s, Deadline: measure.Deadline(s), Procs: 1},
	}
}

func planFunctions(p *study.Planner, round int) {
	for _, f := range functions() {
		for _, k := range goldilocks.Kernels() {
			if hasFunction(k, f) {
				p.Add(timedJob(partFunctions, round), "GoldilocksOps", map[string]string{"function": f, "kernel": k.String(), "units": "128"})
			}
		}
	}
	for _, k := range goldilocks.Kernels() {
		p.Add(timedJob(partFunctions, round), "PoseidonPermutation", map[string]string{"states": "1024", "kernel": k.String()})
	}
}

func hasFunction(k goldilocks.Kernel, function string) bool {
	return slices.ContainsFunc(sve.Functions(k), func(f sve.Function) bool { return f.Name == function })
}

// planTrees plans the sizes of figure 5, each on one processor, two, four and so on to all.
func planTrees(p *study.Planner, round int, o study.Options) {
	sizes := []int{10, 12, 14, 16, 18, 20, 22}
	if o.Quick {
		sizes = sizes[:3]
	}
	for _, log := range sizes {
		for _, cpus := range processors(o.Workers) {
			for _, k := range goldilocks.Kernels() {
				p.Add(tree(round, log, cpus), "MerkleBuild", map[string]string{
					"leaves": strconv.Itoa(1 << log), "width": "8", "kernel": k.String(), "exec": "pool",
				})
			}
		}
	}
}

// processors returns the numbers of processors on which trees are built: 1, 2, 4 and so on, and all.
func processors(all int) (counts []int) {
	for n := 1; n < all; n *= 2 {
		counts = append(counts, n)
	}
	return append(counts, all)
}

// tree returns the case of a tree. It runs a number of operations, not a time, because the largest tree takes seconds.
// One operation before them warms up. In the first round the result is compared with the portable kernel's.
func tree(round, log, cpus int) suite.Case {
	s := measure.DefaultSettings(1, 0)
	s.Count, s.Warmup, s.Samples = uint64(max(1, 1<<18>>log)), runner.Warmup{Ops: 1}, 1
	s.Check, s.Grace = runner.Check{Policy: runner.CheckNone}, 10*time.Second
	if round == 0 {
		s.Check = runner.Check{Policy: runner.CheckSample, N: 1}
	}
	each := time.Duration(2<<log) * perHash / time.Duration(cpus)
	return suite.Case{
		Side: partTrees, Repetition: round, Expected: time.Duration(s.Count+2)*each/2 + 200*time.Millisecond, Optional: log > 20,
		Job: measure.Job{Settings: s, Deadline: time.Hour, Procs: cpus},
	}
}
