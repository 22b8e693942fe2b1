package zkvm

import "github.com/zkbench/zkbench/stark/air"

// accesses is the number of accesses that an instruction makes at most, at the times from its beginning on: the
// registers rs1 and rs2, memory, and the register rd or the second register of a load or store. The next instruction
// begins at the time after them.
const accesses = 4

// instruction has the columns that all instructions have: the index and the time.
type instruction struct{ index, time column }

func (c *columns) instruction() instruction {
	return instruction{c.column("index", 32), c.column("time", timeBits)}
}

// code is what the program says about an instruction.
type code struct{ op, rd, rs1, rs2, z air.Expr }

// instruction states that rows where real is 1 are instructions of the program, and that the given index is that
// of the successor.
func (b builder) instruction(in instruction, real air.Expr, c code, successor air.Expr) {
	index, time := b.at(in.index), b.at(in.time)
	b.Ask(busState, real, index, time)
	b.Answer(busState, real, successor, time.Plus(accesses))
	b.Ask(busProgram, real, index, c.op, c.rd, c.rs1, c.rs2, c.z)
}

// instruction sets the columns of an instruction and counts it.
func (w *writer) instruction(in instruction, s *step) {
	w.set(in.index, uint64(s.index))
	w.set(in.time, s.time)
	w.counts.instructions[s.index]++
}

// seen is what an access found: a cell's content, and the time of the access before.
type seen struct{ value, time uint64 }

// step is an executed instruction. In a call, a is register a7, b is a0, which holds result afterwards, and old is a1, which holds
// stored afterwards.
type step struct {
	index       int    // of the instruction
	time        uint64 // when it begins
	a, b        seen   // registers rs1 and rs2; for an immediate, b has no time
	memory, old seen   // the word of memory; register rd, or the second register of a load or store
	result      uint64 // what rd holds afterwards
	stored      uint64 // what the word of memory holds afterwards
	address     uint64 // of a load or store, or the sum of a jalr
	readOnly    int    // 1 plus the number of the cell among those that are never written: constants, then the input; or 0
	next        int    // index of the successor
}
