package ours

import (
	"testing"

	"github.com/zkbench/zkbench/internal/study/peer/guest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
)

// TestGuestExecutes: the operation fails where a program does not do what it should.
func TestGuestExecutes(t *testing.T) {
	t.Parallel()
	p := &guest.Program{Loop: guest.Loops()[0], XLEN: 32, System: guest.Linux, Instructions: 10_000}
	op, extra, err := executeGuest(p, riscv.RV32IM())
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, op())
	golden.Equal(t, "columns", map[string]float64{"instructions": 10_000}, extra)
	p.Instructions++
	if op() == nil {
		t.Error("a run of another number of instructions is no error")
	}
}
