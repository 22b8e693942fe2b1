package zkvm_test

import (
	"errors"
	"os"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/zkvm"
)

// TestPlan: a plan has the run's cycles and at least the bits that are promised, and it comes before the tables are
// filled. Its error ends the proof.
func TestPlan(t *testing.T) {
	p := must.Get(zkvm.Load(exits(0)))(t)
	refused := errors.New("refused")
	var plan zkvm.Plan
	var phases []string
	proof, _, err := p.Prove(t.Context(), executor.Serial(), nil, zkvm.About{}, zkvm.Options{
		Span: func(name string) func() { phases = append(phases, name); return func() {} },
		Plan: func(of zkvm.Plan) error { plan = of; return refused },
	})
	if !errors.Is(err, refused) || proof != nil {
		t.Errorf("error %v and a proof of %d bytes, want the plan's error", err, len(proof))
	}
	golden.Equal(t, "phases", []string{zkvm.PhaseExecute}, phases)
	golden.Equal(t, "cycles", uint64(3), plan.Cycles)
	if plan.Bits < 100 || plan.Cells < 1<<20 || plan.Memory < uint64(plan.Cells)*8 {
		t.Errorf("%+v", plan)
	}
}

// TestPlanMemory: the estimate of the memory grows with the pages that a run touches, each of which has 16 kB of cells.
func TestPlanMemory(t *testing.T) {
	const text, zeros, pages = 0x10000, 1 << 24, 1000
	of := func(step uint32) uint64 {
		p := must.Get(zkvm.Load(rv.ELF(64, text, rv.Segment{At: text, Flags: 5, Data: rv.Text(
			rv.Lui(8, zeros), rv.Lui(9, step), rv.Addi(10, 0, pages),
			rv.S(rv.OpStore, 3, 8, 0, 0), rv.R(rv.OpReg, 0, 0, 8, 8, 9), rv.Addi(10, 10, -1), rv.B(1, 10, 0, -12),
			rv.Addi(17, 0, 93), rv.Ecall,
		)}, rv.Segment{At: zeros, Flags: 6, Memory: 1 << 24})))(t)
		planned, memory := errors.New("planned"), uint64(0)
		_, _, err := p.Prove(t.Context(), executor.Serial(), nil, zkvm.About{}, zkvm.Options{Plan: func(of zkvm.Plan) error { memory = of.Memory; return planned }})
		must.Fail(t, err, planned, "step %d", step)
		return memory
	}
	if one, all := of(0), of(4096); all-one < pages<<14 {
		t.Errorf("%d bytes for a page, %d for %d", one, all, pages)
	}
}

// TestMaxInput: an input of MaxInput bytes fits a form, and a longer one is refused before the program runs.
func TestMaxInput(t *testing.T) {
	p := must.Get(zkvm.Load(exits(0)))(t)
	planned := errors.New("planned")
	for length, want := range map[int]error{zkvm.MaxInput: planned, zkvm.MaxInput + 1: zkbench.ErrLimit} {
		_, _, err := p.Prove(t.Context(), executor.Serial(), make([]byte, length), zkvm.About{}, zkvm.Options{Plan: func(zkvm.Plan) error { return planned }})
		must.Fail(t, err, want, "input of %d bytes", length)
	}
	golden.Contains(t, string(must.Get(os.ReadFile("../docs/zkvm.md"))(t)), "an input of more than "+format.Count(zkvm.MaxInput)+" bytes")
}

// TestMaxOutput: a run that commits to more than MaxOutput bytes is refused before it has rows for them.
func TestMaxOutput(t *testing.T) {
	const text, data = 0x10000, 0x400000
	planned := errors.New("planned")
	for length, want := range map[int32]error{zkvm.MaxOutput: planned, zkvm.MaxOutput + 1: zkbench.ErrLimit, 1 << 25: zkbench.ErrLimit} {
		p := must.Get(zkvm.Load(rv.ELF(64, text,
			rv.Segment{At: text, Flags: 5, Data: rv.Text(
				rv.Lui(10, data), rv.Lui(11, uint32(length)), rv.Addi(11, 11, length&0xfff), rv.Lui(17, call.Commit), rv.Addi(17, 17, call.Commit&0xfff), rv.Ecall,
				rv.Addi(17, 0, 93), rv.Ecall)},
			rv.Segment{At: data, Flags: 6, Memory: 1 << 26})))(t)
		_, _, err := p.Prove(t.Context(), executor.Serial(), nil, zkvm.About{}, zkvm.Options{Plan: func(zkvm.Plan) error { return planned }})
		must.Fail(t, err, want, "output of %d bytes", length)
	}
	golden.Contains(t, string(must.Get(os.ReadFile("../docs/zkvm.md"))(t)), "an output of more than "+format.Count(zkvm.MaxOutput))
}

// TestHashOf: a proof names the hash of its trees.
func TestHashOf(t *testing.T) {
	_, proof := ofEcho()
	golden.Equal(t, "hash", stark.Keccak, must.Get(zkvm.HashOf(proof))(t))
	if _, err := zkvm.HashOf(proof[:1]); !errors.Is(err, zkbench.ErrMalformed) {
		t.Errorf("a proof of one byte: %v", err)
	}
}

// TestCellsOfHash: examples/guest/hash.c takes at most 110 cells a cycle where its run fills the largest form, as docs/zkvm.md says.
func TestCellsOfHash(t *testing.T) {
	p := must.Get(zkvm.Load(must.Get(os.ReadFile("../internal/workload/guest/bare/hash.elf"))(t)))(t)
	planned := errors.New("planned")
	_, _, err := p.Prove(t.Context(), executor.Serial(), make([]byte, 11_950), zkvm.About{}, zkvm.Options{Plan: func(plan zkvm.Plan) error {
		if cells := float64(plan.Cells) / float64(plan.Cycles); plan.Cycles < 1_000_000 || cells > 110 {
			t.Errorf("%.1f cells a cycle in %d cycles, want at most 110 in a million and more", cells, plan.Cycles)
		}
		return planned
	}})
	must.Fail(t, err, planned, "a plan that refuses")
}
