package zkvm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv"
)

// counted runs a program and counts it. It also returns the plan of a proof of the run, or the error of Prove.
func counted(t *testing.T, elf, input []byte) (*Counter, *Cost, Plan, error) {
	t.Helper()
	guest := must.Get(riscv.Load(elf, nil))(t)
	o := riscv.Options{Input: input}
	c := must.Get(NewCounter(guest, o))(t)
	o.Trace = c.Step
	r := must.Get(riscv.Run(t.Context(), guest, o))(t)
	cost := must.Get(c.Cost())(t)
	golden.Equal(t, "cycles", r.Cycles, cost.Cycles)

	planned := errors.New("planned")
	var plan Plan
	_, _, err := must.Get(Load(elf))(t).Prove(t.Context(), executor.Serial(), input, About{}, Options{Plan: func(of Plan) error {
		plan = of
		return planned
	}})
	if errors.Is(err, planned) {
		err = nil
	}
	return c, cost, plan, err
}

// TestCounter: a run that has a proof has the cells of its plan, and one that is too long is in as many proofs as its tables
// need. No rows are kept.
func TestCounter(t *testing.T) {
	elf := must.Get(os.ReadFile("../internal/workload/guest/bare/loop.elf"))(t)
	for turns, proofs := range map[uint64]int{100: 1, 400_000: 2} {
		input := make([]byte, 24)
		binary.LittleEndian.PutUint64(input, turns)
		c, cost, plan, err := counted(t, elf, input)
		golden.Equal(t, fmt.Sprint("proofs of ", turns, " turns"), proofs, cost.Proofs)
		if fault, ok := errors.AsType[*riscv.Fault](err); proofs > 1 && (!ok || fault.Kind != riscv.OutOfCycles) {
			t.Errorf("%v, want too many cycles", err)
		} else if proofs == 1 {
			must.Do(t, err)
			golden.Equal(t, "cells", plan.Cells, cost.Cells())
		}
		rows := make(map[string]int)
		for _, table := range cost.Tables {
			if rows[table.Name] = table.Rows; table.Rows > proofs*table.Height {
				t.Errorf("%s: %d rows in %d tables of %d rows", table.Name, table.Rows, proofs, table.Height)
			}
		}
		golden.Equal(t, "rows of the output", 8, rows["output"])
		golden.Equal(t, "rows of the input", 1, rows["input"])
		golden.Within(t, "rows of sums", int(4*turns), rows["sums"], int(4*turns)+200)
		golden.Within(t, "rows of branches", int(turns), rows["equal"], int(turns)+100)
		for _, of := range c.x.rows {
			golden.Equal(t, "rows that are kept", 0, len(of.pieces))
		}
		golden.Equal(t, "kept bytes of the output", 0, len(c.x.committed.pieces)+len(c.x.output))
	}
}

func TestCounterRefuses(t *testing.T) {
	guest := must.Get(riscv.Load(rv.ELF(32, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(rv.Ecall)}), nil))(t)
	_, err := NewCounter(guest, riscv.Options{})
	must.Fail(t, err, zkbench.ErrParams, "a program for 32 bits")
}
