package riscv

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestCounters: what a register of 32 bits has of a counter is sign-extended, as all that it has.
func TestCounters(t *testing.T) {
	const cycles = 1<<40 | 1<<31
	for _, test := range []struct {
		isa  ISA
		want uint64
	}{{rv64gc, cycles}, {rv32im, 0xffffffff_80000000}} {
		for name, number := range map[string]int64{"cycle": csrCycle, "instret": csrInstructions, "time": csrTime} {
			m := &machine{program: &Program{ISA: test.isa}, cycles: cycles, time: cycles - clockStep}
			var h hart
			if !m.csr(&h, &instr{op: opCsr, rd: 5, imm: number<<20 | 2<<12 | 5<<7 | 0x73}, 1) {
				t.Fatal(m.fault)
			}
			golden.Equal(t, test.isa.String()+" "+name, test.want, h.x[5])
		}
	}
}
