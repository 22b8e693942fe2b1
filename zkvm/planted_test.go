package zkvm

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark"
)

// fault is a false run, and why it is refused: the constraint or bus.
type fault struct {
	name, why string
	make      func(t testing.TB) *forgery
}

// Numbers of faults.
const (
	half     = 1 << 16
	limb     = 1 << 32
	minus    = goldilocks.Modulus // minus - n is -n in the field
	negative = 1<<64 - 1          // -1 as a word
)

// operated returns a function that returns the run of an operation with the given result, and edits it.
func operated(op, a, b, c uint64, edits func(m *machine, f *forgery)) func(t testing.TB) *forgery {
	return func(t testing.TB) *forgery {
		f := forge(newScript().operation(op, a, b, c).claim(t))
		if edits != nil {
			edits(f.machine, f)
		}
		return f
	}
}

// loaded does what operated does for a load or store at an address: the register and the eight bytes hold the given numbers
// afterwards.
func loaded(op, address, register, content uint64, edits func(m *machine, f *forgery)) func(t testing.TB) *forgery {
	return func(t testing.TB) *forgery {
		rd := uint64(result)
		if op&codeStore != 0 {
			rd = right
		}
		f := forge(newScript().put(left, address).put(right, 0x8877665544332211).
			do(decoded{op: op, rd: rd, rs1: left}, step{address: address, result: register, stored: content}).claim(t))
		if edits != nil {
			edits(f.machine, f)
		}
		return f
	}
}

// timeOf returns when the instruction of a script begins that has an index.
func timeOf(index uint64) uint64 { return start + accesses*index }

// Places in runs of an operation: the rows of sums that set its operands, that of the operation if it is a sum, and its index.
const (
	putLeft = iota
	putRight
	added
	operationIndex
)

var registerFaults = []fault{
	{"register 0 is written", `bus "program"`, func(t testing.TB) *forgery {
		// The program's table has the sink in place of register 0.
		s, addi := newScript(), decoded{op: codeSums + codeImmediate, rd: 0, constant: 5}
		s.do(addi, step{result: 5}).do(decoded{op: codeSums, rd: result}, step{result: 10})
		addi.constant = negative - 4
		s.do(addi, step{})
		honest := func(in *decoded) { in.rd = sink }
		return forge(s.claim(t)).instead(t, 1, honest).instead(t, 3, honest)
	}},
	{"register 0 is read as another number", `bus "cell"`, func(t testing.TB) *forgery {
		f := forge(newScript().put(right, 1).do(decoded{op: codeSums, rd: result, rs2: right}, step{result: 6}).claim(t))
		return f.set(f.machine.sums, 1, 5, f.machine.sums.a.lo)
	}},
	{"one register is two operands", `bus "cell"`, func(t testing.TB) *forgery {
		f := forge(newScript().put(left, 7).do(decoded{op: codeSums, rd: result, rs1: left, rs2: left}, step{result: 7 + 9}).claim(t))
		return f.set(f.machine.sums, 1, 9, f.machine.sums.b.lo)
	}},
	{"a register is written before it is read", `bus "half"`, func(t testing.TB) *forgery {
		// The sum of the register and 0 is then any number.
		f := forge(newScript().put(left, 7).do(decoded{op: codeSums, rd: left, rs1: left}, step{result: 8}).claim(t))
		s, last := f.machine.sums, f.machine.registers.last
		f.set(s, 1, 8, s.a.lo).set(s, 1, timeOf(2)+3, s.a.time).set(s, 1, timeOf(1)+3, s.old.time)
		return f.set(f.machine.registers, left, timeOf(2), last.time)
	}},
	{"a read finds what was before the last write", `bus "half"`, func(t testing.TB) *forgery {
		f := forge(newScript().put(left, 7).put(left, 9).do(decoded{op: codeSums, rd: result, rs1: left}, step{result: 7}).claim(t))
		s, last := f.machine.sums, f.machine.registers.last
		f.set(s, 1, timeOf(3), s.old.time)
		f.set(s, 2, 7, s.a.lo).set(s, 2, timeOf(1)+3, s.a.time)
		return f.set(f.machine.registers, left, timeOf(2)+3, last.time)
	}},
	{"a write that only it finds", `bus "half"`, func(t testing.TB) *forgery {
		f := operated(codeSums, 1, 2, 3, nil)(t)
		s, last := f.machine.sums, f.machine.registers.last
		f.set(s, added, 3, s.old.lo).set(s, added, timeOf(operationIndex)+3, s.old.time)
		return f.set(f.machine.registers, result, 0, last.lo, last.time)
	}},
	{"an instruction is left out", `bus "state"`, func(t testing.TB) *forgery {
		f := forge(newScript().put(left, 7).put(1, 9).claim(t))
		s, registers := f.machine.sums, f.machine.registers
		f.set(s, 1, 0, s.real, s.immediate).set(registers, 1, 0, registers.last.lo, registers.last.time)
		return f.set(s, 2, timeOf(1), s.a.time) // of register 0
	}},
	{"the time of an access is not its instruction's", `bus "state"`, func(t testing.TB) *forgery {
		f := forge(newScript().do(decoded{op: codeSums + codeImmediate, rd: result, rs1: 1, constant: 5}, step{result: 5}).claim(t))
		s, registers := f.machine.sums, f.machine.registers
		return f.add(s, 0, 4, s.time).add(registers, 1, 4, registers.last.time).add(registers, result, 4, registers.last.time)
	}},
	{"a bridge to an earlier time", `bus "half"`, func(t testing.TB) *forgery {
		f := operated(codeSums, 1, 2, 3, nil)(t)
		b, registers, time := f.machine.bridges, f.machine.registers, timeOf(operationIndex)+3
		f.set(b, 0, 1, b.real).set(b, 0, spaceRegisters, b.space).set(b, 0, result, b.address).set(b, 0, 3, b.cell.lo).set(b, 0, time, b.cell.time)
		return f.set(b, 0, minus-4, b.lower).set(registers, result, time-3, registers.last.time)
	}},
	{"a bridge from one space to another", `bus "cell"`, func(t testing.TB) *forgery {
		f := operated(codeSums, 1, 2, 3, nil)(t)
		b, registers, time := f.machine.bridges, f.machine.registers, timeOf(operationIndex)+3
		f.set(b, 0, 1, b.real).set(b, 0, spaceMemory, b.space).set(b, 0, result, b.address).set(b, 0, 3, b.cell.lo).set(b, 0, time, b.cell.time)
		return f.set(registers, result, time+1, registers.last.time)
	}},
	{"a register at the end", `bus "cell"`, func(t testing.TB) *forgery {
		f := operated(codeSums, 1, 2, 3, nil)(t)
		return f.set(f.machine.registers, result, 4, f.machine.registers.last.lo)
	}},
}

// zeroed returns a script that loads the zeros at the second and third cell of their region.
func zeroed(t testing.TB) *forgery {
	s := newScript().put(left, zerosAt)
	for i := range uint64(2) {
		at := 8 * (i + 1)
		s.do(decoded{op: codeWords + codeLoad, rd: result, rs1: left, z: at}, step{address: zerosAt + at})
	}
	return forge(s.claim(t))
}

var memoryFaults = []fault{
	{"a cell begins twice", `bus "half"`, func(t testing.TB) *forgery {
		f := zeroed(t)
		z, at := f.machine.zeros, uint64(zerosAt/8+1)
		f.set(z, 0, minus-1, z.lower) // the next cell is the same
		return f.set(z, 2, 1, z.real).set(z, 2, at, z.address).set(z, 1, 509, z.lower).set(z, 2, 0, z.lower)
	}},
	{"a cell ends twice", `bus "cell"`, func(t testing.TB) *forgery {
		f := zeroed(t)
		z := f.machine.zeros
		return f.set(z, 1, 1, z.last.lo)
	}},
	{"a list goes back, to a cell of data", `bus "half"`, func(t testing.TB) *forgery {
		f := zeroed(t)
		z := f.machine.zeros
		f.set(z, 1, minus-4096/8-3, z.lower)
		return f.set(z, 2, 1, z.real).set(z, 2, dataAt/8, z.address).set(z, 2, 4096/8+511, z.lower).set(z, 2, 9, z.first, z.last.time)
	}},
	{"a list that begins anywhere", `bus "order"`, func(t testing.TB) *forgery {
		f := zeroed(t)
		z := f.machine.zeros
		return f.set(z, 2, 1, z.real).set(z, 2, 1<<20, z.address)
	}},
	{"a list that passes its end", `bus "order"`, func(t testing.TB) *forgery {
		f := zeroed(t)
		z := f.machine.zeros
		return f.add(z, 1, 5, z.lower)
	}},
	{"a region without its first cell", `bus "cell"`, func(t testing.TB) *forgery {
		f := zeroed(t)
		r := f.machine.regions
		return f.set(r, 0, 1, r.last.lo)
	}},
	{"memory that is not mapped", `bus "cell"`, loaded(codeWords+codeLoad, 1<<20, 0, 0, nil)},
	{"data that begin with another content", `bus "cell"`, loaded(codeWords+codeLoad, dataAt, 5, 5, func(m *machine, f *forgery) {
		f.set(m.words, 0, 5, m.words.memory.lo).set(m.words, 0, 0, m.words.memory.hi)
	})},
	{"a register is loaded as memory", "read only is a bit", loaded(codeWords+codeLoad, 8*left, 8*left, 8*left, func(m *machine, f *forgery) {
		w := m.words
		f.set(w, 0, minus-1, w.readOnly).set(w, 0, 8*left, w.memory.lo)
	})},
	{"an address that is the base only modulo the field's order", `bus "half"`, func(t testing.TB) *forgery {
		const base = goldilocks.Modulus + dataAt
		const content = 0xf8f7f6f5f4f3f2f1
		s := newScript().do(decoded{op: codeSums + codeImmediate, rd: left, constant: base}, step{result: dataAt})
		f := forge(s.do(decoded{op: codeWords + codeLoad, rd: result, rs1: left}, step{address: dataAt, result: content, stored: content}).claim(t))
		m := f.machine
		f.set(m.sums, 0, base&(limb-1)>>16, m.sums.upperLo).set(m.sums, 0, base>>48, m.sums.upperHi)
		for _, c := range []struct {
			at  table
			row int
			word
		}{{m.sums, 0, m.sums.c}, {m.words, 0, m.words.a.word}, {m.registers, left, m.registers.last.word}} {
			f.set(c.at, c.row, base&(limb-1), c.lo).set(c.at, c.row, base>>32, c.hi)
		}
		return f
	}},
	{"a fraction of an address", `bus "cell"`, loaded(codeWords+codeLoad, dataAt+2, 0xf8f7f6f5f4f3f2f1, 0xf8f7f6f5f4f3f2f1, func(m *machine, f *forgery) {
		address := goldilocks.Element(dataAt + 2).Mul(goldilocks.Element(8).Inverse())
		f.set(m.words, 0, uint64(address), m.words.address)
	})},
	{"eight bytes that are not aligned", "eight bytes are aligned", loaded(codeWords+codeLoad, dataAt+4, 0xf8f7f6f5f4f3f2f1, 0xf8f7f6f5f4f3f2f1, nil)},
	{"two bytes that are not aligned", "halves are aligned", loaded(codeNarrowWords+codeLoad, dataAt+1, 0xf2f1, 0xf8f7f6f5f4f3f2f1, nil)},
	{"an offset that is no bit", "bit of the address is a bit", func(t testing.TB) *forgery {
		// Instead of the second cell of data, lwu loads from the first one, at place 2: twice its upper limb less the lower one.
		const loaded, content = 2*0xf8f7f6f5 - 0xf4f3f2f1, 0xf8f7f6f5f4f3f2f1
		s := newScript().put(left, dataAt).do(decoded{op: codeWords + codeLoad + codeSmall, rd: result, rs1: left, z: 8}, step{address: dataAt, result: loaded, stored: content})
		f := forge(s.claim(t))
		return f.set(f.machine.words, 0, 2, f.machine.words.inside[0])
	}},
	{"a store to a constant", "stores write", loaded(codeWords+codeStore, constantAt, 0x8877665544332211, 0x8877665544332211, nil)},
	{"a store to a constant, as if it were data", `bus "cell"`, loaded(codeWords+codeStore, constantAt, 0x8877665544332211, 0x8877665544332211, func(m *machine, f *forgery) {
		f.set(m.words, 0, 0, m.words.readOnly)
	})},
	{"a load of no constant", "loads of cells only", func(t testing.TB) *forgery {
		f := forge(newScript().claim(t))
		return f.set(f.machine.constants, 1, 1, f.machine.constants.loaded)
	}},
	{"a store that writes nothing", "store, lower limb", loaded(codeWords+codeStore, dataAt, 0x8877665544332211, 0x88776655f4f3f2f1, nil)},
	{"a store that changes its register", "a store keeps the register's lower limb", loaded(codeWords+codeStore, dataAt, 0x8877665500000005, 0x8877665544332211, nil)},
	{"a load that writes", "a load keeps the upper limb", loaded(codeWords+codeLoad, dataAt, 0xf8f7f6f5f4f3f2f1, 0x18f7f6f5f4f3f2f1, nil)},
	{"a load of another number", "load, lower limb", loaded(codeWords+codeLoad, dataAt, 0xf8f7f6f5f4f3f2f2, 0xf8f7f6f5f4f3f2f1, nil)},
	{"a store of four bytes that changes the others", "store of a half, lower limb", loaded(codeWords+codeStore+codeSmall, dataAt+4, 0x8877665544332211, 0x44332211f4f3f200, nil)},
	{"a store of one byte that changes the other one of its half", "stored", loaded(codeNarrowWords+codeStore+codeSmall, dataAt+1, 0x8877665544332211, 0xf8f7f6f5f4f31100, nil)},
	{"a store of one byte that changes the other half", "lower limb afterwards", loaded(codeNarrowWords+codeStore+codeSmall, dataAt+1, 0x8877665544332211, 0xf8f7f6f5000011f1, nil)},
	{"a store of two bytes that changes the other limb", "upper limb afterwards", loaded(codeNarrowWords+codeStore, dataAt+2, 0x8877665544332211, 0xf8f7f6002211f2f1, nil)},
	{"upper limb of lwu", "sign of a half", loaded(codeWords+codeLoad+codeSmall, dataAt, limb+0xf4f3f2f1, 0xf8f7f6f5f4f3f2f1, nil)},
	{"upper bytes of lhu", "load of a half", loaded(codeNarrowWords+codeLoad, dataAt, half+0xf2f1, 0xf8f7f6f5f4f3f2f1, nil)},
	{"upper bytes of lbu", "load of a byte", loaded(codeNarrowWords+codeLoad+codeSmall, dataAt, 0x1f1, 0xf8f7f6f5f4f3f2f1, nil)},
	{"upper limb of lbu", "upper limb of a load", loaded(codeNarrowWords+codeLoad+codeSmall, dataAt, limb+0xf1, 0xf8f7f6f5f4f3f2f1, nil)},
	{"sign of lw", `bus "sign"`, loaded(codeWords+codeLoad+codeSmall+codeSign, dataAt, 0xf4f3f2f1, 0xf8f7f6f5f4f3f2f1, func(m *machine, f *forgery) {
		f.set(m.words, 0, 0, m.words.sign)
	})},
	{"sign of lb", `bus "sign"`, loaded(codeNarrowWords+codeLoad+codeSmall+codeSign, dataAt, 0xf1, 0xf8f7f6f5f4f3f2f1, func(m *machine, f *forgery) {
		f.set(m.narrow, 0, 0, m.narrow.sign)
	})},
	{"a sign of lbu", `bus "program"`, loaded(codeNarrowWords+codeLoad+codeSmall, dataAt, negative-14, 0xf8f7f6f5f4f3f2f1, func(m *machine, f *forgery) {
		f.set(m.narrow, 0, 1, m.narrow.signed)
	})},
	{"bytes of a load that are none", `bus "bytes"`, loaded(codeNarrowWords+codeLoad+codeSmall, dataAt, 0x1f1, 0xf8f7f6f5f4f3f2f1, func(m *machine, f *forgery) {
		n := m.narrow
		f.add(n, 0, 256, n.part).add(n, 0, -1, n.otherPart).add(n, 0, half, n.moved)
	})},
	{"bytes of a store that are none", `bus "bytes"`, loaded(codeNarrowWords+codeStore+codeSmall, dataAt, 0x8877665544332211, 0xf8f7f6f5f4f3f311, func(m *machine, f *forgery) {
		n := m.narrow
		f.add(n, 0, 256, n.first).add(n, 0, -1, n.second).set(n, 0, 0xf311, n.stored)
	})},
	{"a store of the register's other half", `bus "half"`, loaded(codeNarrowWords+codeStore, dataAt, 0x8877665544332211, 0xf8f7f6f5f4f35544, func(m *machine, f *forgery) {
		// Its lower half is 0x5544 if the upper one is the rest, divided by 2^16.
		n, rest := m.narrow, goldilocks.Element(0x44332211-0x5544).Mul(goldilocks.Element(half).Inverse())
		f.set(n, 0, 0x44, n.first).set(n, 0, 0x55, n.second).set(n, 0, uint64(rest), n.rest)
	})},
	{"a half that is none", `bus "half"`, loaded(codeNarrowWords+codeLoad, dataAt, 0xf4f3, 0xf8f7f6f5f4f3f2f1, func(m *machine, f *forgery) {
		n, other := m.narrow, goldilocks.Element(0xf4f3f2f1-0xf4f3).Mul(goldilocks.Element(half).Inverse())
		f.set(n, 0, 0xf4f3, n.half, n.moved, n.stored).set(n, 0, uint64(other), n.otherHalf).set(n, 0, 0xf3, n.part).set(n, 0, 0xf4, n.otherPart)
	})},
}

// Operations of shifts by registers.
const (
	opSll  = codeShiftBy + 2*kindSll
	opSra  = codeShiftBy + 2*kindSra
	opSllw = codeShiftBy + 2*kindSllw
)

// shiftedBy0 returns the run of slli by 0, with a result.
func shiftedBy0(a, c uint64, edits func(m *machine, f *forgery)) func(t testing.TB) *forgery {
	return func(t testing.TB) *forgery {
		f := forge(newScript().put(left, a).do(decoded{op: codeShift + uint64(wayLeft), rd: result, rs1: left, z: 1}, step{result: c}).claim(t))
		edits(f.machine, f)
		return f
	}
}

var arithmeticFaults = []fault{
	{"another sum", "lower limb", operated(codeSums, 1, 2, 4, nil)},
	{"a lost carry", "upper limb", operated(codeSums, limb-1, 1, 0, func(m *machine, f *forgery) {
		f.set(m.sums, added, 0, m.sums.carryHi)
	})},
	{"a sum with a limb that is none", `bus "half"`, operated(codeSums, limb-1, 1, limb, func(m *machine, f *forgery) {
		f.written(m.sums, added, m.sums.c, limb, 0).set(m.sums, added, 0, m.sums.carryLo, m.sums.upperHi).set(m.sums, added, half-1, m.sums.upperLo).set(m.sums, added, 1, m.sums.sign)
	})},
	{"a carry of 2", "lower carry is a bit", operated(codeSums, limb-1, limb-1, limb, func(m *machine, f *forgery) {
		f.written(m.sums, added, m.sums.c, minus-2, 2).set(m.sums, added, 2, m.sums.carryLo)
	})},
	{"a negative carry", "upper carry is a bit", operated(codeSums, 0, 0, 0, func(m *machine, f *forgery) {
		f.written(m.sums, added, m.sums.c, 0, limb).set(m.sums, added, minus-1, m.sums.carryHi).set(m.sums, added, half, m.sums.upperHi)
	})},
	{"a sum of 32 bits without its sign", `bus "sign"`, operated(codeSums+codeNarrow, 1<<31, 0, 1<<31, func(m *machine, f *forgery) {
		f.set(m.sums, added, 0, m.sums.sign)
	})},
	{"a sum of 32 bits with an upper limb", "sign of 32 bits", operated(codeSums+codeNarrow, limb-1, 1, limb, nil)},
	{"a sum for a difference", `bus "program"`, operated(codeSums+codeSub, 3, 2, 5, func(m *machine, f *forgery) {
		f.set(m.sums, added, 0, m.sums.sub, m.sums.carryLo)
	})},
	{"another constant of lui", `bus "cell"`, func(t testing.TB) *forgery {
		return forge(newScript().put(result, 5<<12).claim(t)).instead(t, 1, func(in *decoded) { in.constant = 6 << 12 })
	}},
	{"a register for a constant", `bus "program"`, func(t testing.TB) *forgery {
		f := forge(newScript().do(decoded{op: codeSums, rd: result}, step{}).claim(t))
		return f.instead(t, 1, func(in *decoded) { in.op, in.rs2, in.constant = codeSums+codeImmediate, firstConstant+1, 6 })
	}},
	{"the constant of another instruction", `bus "program"`, func(t testing.TB) *forgery {
		f := forge(newScript().put(1, 5).put(result, 6).claim(t))
		s, registers := f.machine.sums, f.machine.registers
		f.set(s, 1, firstConstant+1, s.rs2).set(s, 1, 5, s.b.lo, s.c.lo)
		return f.set(registers, result, 5, registers.last.lo)
	}},

	{"another and", `bus "and"`, operated(codeAnd, 0xff, 0x0f, 0x1f, func(m *machine, f *forgery) {
		f.set(m.logic, 0, 0x1f, m.logic.both[0])
	})},
	{"an and with bytes that are none", `bus "and"`, operated(codeAnd, 0x100, 0x0f, 0x0f, func(m *machine, f *forgery) {
		f.set(m.logic, 0, 0x100, m.logic.left[0]).set(m.logic, 0, 0, m.logic.left[1]).set(m.logic, 0, 0xf, m.logic.both[0])
	})},
	{"an or for an xor", `bus "program"`, operated(codeXor, 3, 5, 7, func(m *machine, f *forgery) {
		f.set(m.logic, 0, 0, m.logic.xor).set(m.logic, 0, 1, m.logic.or)
	})},
	{"two operations in one", `asks "state" once at most`, operated(codeXor, 3, 5, 7, func(m *machine, f *forgery) {
		f.set(m.logic, 0, 1, m.logic.and)
	})},

	{"a product of a shift that is another one modulo the field's order", `bus "sign"`, shiftedBy0(5, 6, func(m *machine, f *forgery) {
		// 5 plus the order is 6 + 2^32 (2^32 - 1); the upper limb of the result would be 2^32 - 1.
		f.written(m.shifts, 0, m.shifts.c, 6, limb-1).set(m.shifts, 0, 6, m.shifts.lo.low).
			set(m.shifts, 0, limb-1, m.shifts.lo.high).set(m.shifts, 0, half-1, m.shifts.lo.highUpper)
	})},
	{"bits of a shift that are negative", `bus "half"`, shiftedBy0(5, 6, func(m *machine, f *forgery) {
		f.written(m.shifts, 0, m.shifts.c, limb+5, minus-1).set(m.shifts, 0, limb+5, m.shifts.lo.low).
			set(m.shifts, 0, half, m.shifts.lo.lowUpper).set(m.shifts, 0, minus-1, m.shifts.lo.high)
	})},
	{"a shift by another power", `bus "program"`, shiftedBy0(5, 10, func(m *machine, f *forgery) {
		f.set(m.shifts, 0, 2, m.shifts.power).set(m.shifts, 0, 10, m.shifts.lo.low)
	})},
	{"another amount of a shift", "amount", operated(opSll, 5, 2, 10, func(m *machine, f *forgery) {
		f.set(m.shiftsBy, 0, 1, m.shiftsBy.amount).set(m.shiftsBy, 0, 2, m.shiftsBy.power).set(m.shiftsBy, 0, 10, m.shiftsBy.lo.low)
	})},
	{"another power of an amount", `bus "power"`, operated(opSll, 5, 2, 10, func(m *machine, f *forgery) {
		f.set(m.shiftsBy, 0, 2, m.shiftsBy.power).set(m.shiftsBy, 0, 10, m.shiftsBy.lo.low)
	})},
	{"an amount of 64", `bus "power"`, operated(opSll, 5, 64, 0, func(m *machine, f *forgery) {
		f.set(m.shiftsBy, 0, 64, m.shiftsBy.amount).set(m.shiftsBy, 0, 0, m.shiftsBy.more, m.shiftsBy.power, m.shiftsBy.lo.low)
	})},
	{"an amount of 32 for 32 bits", `bus "power"`, operated(opSllw, 5, 32, 0, func(m *machine, f *forgery) {
		f.set(m.shiftsBy, 0, 0, m.shiftsBy.power, m.shiftsBy.lo.low)
	})},
	{"an amount whose rest is a fraction", `bus "half"`, operated(opSll, 5, 2, 10, func(m *machine, f *forgery) {
		more := goldilocks.Element(1).Mul(goldilocks.Element(64).Inverse())
		f.set(m.shiftsBy, 0, 1, m.shiftsBy.amount).set(m.shiftsBy, 0, uint64(more), m.shiftsBy.more)
		f.set(m.shiftsBy, 0, 2, m.shiftsBy.power).set(m.shiftsBy, 0, 10, m.shiftsBy.lo.low)
	})},
	{"an amount whose highest bits are a fraction", `bus "half"`, operated(opSll, 5, 2, 10, func(m *machine, f *forgery) {
		// most is a fraction by 2^6: 2^6 times it is a half, and it is none itself.
		most := goldilocks.Element(1).Mul(goldilocks.Element(64).Inverse())
		f.set(m.shiftsBy, 0, uint64(most), m.shiftsBy.most).set(m.shiftsBy, 0, 1, m.shiftsBy.amount)
		f.set(m.shiftsBy, 0, uint64(goldilocks.Element(0).Sub(1024).Add(goldilocks.Element(64).Inverse())), m.shiftsBy.more)
		f.set(m.shiftsBy, 0, 2, m.shiftsBy.power).set(m.shiftsBy, 0, 10, m.shiftsBy.lo.low)
	})},
	{"an sra without its sign", `bus "sign"`, operated(opSra, 1<<63, 63, 1, func(m *machine, f *forgery) {
		f.set(m.shiftsBy, 0, 0, m.shiftsBy.topSign, m.shiftsBy.fill1)
	})},
	{"an sra that is not filled", "fill", operated(opSra, 1<<63, 63, 1, func(m *machine, f *forgery) {
		f.set(m.shiftsBy, 0, 0, m.shiftsBy.fill1)
	})},
	{"an sllw without its sign", `bus "sign"`, operated(opSllw, 1<<31, 0, 1<<31, func(m *machine, f *forgery) {
		f.set(m.shiftsBy, 0, 0, m.shiftsBy.sign)
	})},

	{"a comparison that is not asserted", `bus "half"`, operated(codeSet, 3, 5, 0, func(m *machine, f *forgery) {
		f.set(m.compare, 0, 0, m.compare.isLess)
	})},
	{"a comparison of lower limbs where upper ones differ", "upper limbs are the same", operated(codeSet, limb, 5, 1, func(m *machine, f *forgery) {
		f.set(m.compare, 0, 1, m.compare.same, m.compare.isLess).set(m.compare, 0, 0, m.compare.inverse, m.compare.x.limb).set(m.compare, 0, 5, m.compare.y.limb).
			set(m.compare, 0, half-1, m.compare.upper)
	})},
	{"a comparison of upper limbs where they are equal", "upper limbs differ", operated(codeSet, 3, 5, 0, func(m *machine, f *forgery) {
		f.set(m.compare, 0, 0, m.compare.same, m.compare.isLess, m.compare.x.limb, m.compare.y.limb, m.compare.upper)
	})},
	{"another sign of a comparison", `bus "half"`, operated(codeSet+codeSigned, negative, 5, 0, func(m *machine, f *forgery) {
		c := m.compare
		f.set(c, 0, 0, c.x.sign, c.isLess).set(c, 0, limb-1+1<<31, c.x.limb).set(c, 0, (limb-1+1<<31)>>16, c.x.upper).set(c, 0, half-1, c.upper)
	})},
	{"an unsigned comparison for a signed one", `bus "program"`, operated(codeSet+codeSigned, negative, 5, 0, func(m *machine, f *forgery) {
		c := m.compare
		f.set(c, 0, 0, c.signed, c.x.sign, c.y.sign, c.isLess, c.y.limb, c.y.upper).set(c, 0, limb-1, c.x.limb).set(c, 0, half-1, c.x.upper, c.upper)
	})},

	{"halves of a factor that are none", `bus "half"`, operated(codeProduct, half, 3, 3*half, func(m *machine, f *forgery) {
		f.set(m.products, 0, half, m.products.a.halves[0]).set(m.products, 0, 0, m.products.a.halves[1])
	})},
	{"a product with a carry that is a fraction", `bus "half"`, operated(codeProduct, 3, 3, 10, func(m *machine, f *forgery) {
		p, carry := m.products, uint64(goldilocks.Element(0).Sub(goldilocks.Element(limb).Inverse()))
		f.written(p, 0, p.c, 10, carry).set(p, 0, 10, p.lower.halves[0]).set(p, 0, carry, p.carries[0].lower, p.lower.halves[2])
	})},
	{"a carry with bits that are none", "first carry is a bit", operated(codeProduct, 3, 3, 9, func(m *machine, f *forgery) {
		f.set(m.products, 0, 2, m.products.carries[0].above[0])
	})},
	{"a borrow of the highest limb that is no bit", "borrow is a bit", operated(codeProduct+codeHigh, 3, 3, 0, func(m *machine, f *forgery) {
		p := m.products
		f.set(p, 0, 2, p.borrow)
	})},
	{"a mulh without a factor's sign", `bus "sign"`, operated(codeProduct+codeHigh+codeSignedLeft+codeSignedRight, negative, 1, 0, func(m *machine, f *forgery) {
		p := m.products
		f.set(p, 0, 0, p.a.signs[3], p.borrow, p.upper.halves[0], p.upper.halves[1], p.upper.halves[2], p.upper.halves[3]).set(p, 0, 1, p.carries[2].lower)
	})},
	{"a mulw without its sign", `bus "sign"`, operated(codeProduct+codeNarrow, 1<<31, 1, 1<<31, func(m *machine, f *forgery) {
		f.set(m.products, 0, 0, m.products.lower.signs[1])
	})},
	{"a mulhu for a mulhsu", `bus "program"`, operated(codeProduct+codeHigh+codeSignedLeft, negative, 2, 1, func(m *machine, f *forgery) {
		p := m.products
		f.set(p, 0, 0, p.signedLeft, p.borrow, p.upper.halves[1], p.upper.halves[2], p.upper.halves[3]).set(p, 0, 1, p.upper.halves[0], p.carries[2].lower)
	})},

	{"a remainder that is the divisor", `bus "half"`, operated(codeDivision+codeRemainder, 6, 3, 3, func(m *machine, f *forgery) {
		d := m.divisions
		f.set(d, 0, 1, d.quotient.halves[0]).set(d, 0, 3, d.remainder.halves[0])
		f.set(d, 0, 1, d.borrow).set(d, 0, half-1, d.differenceLo).set(d, 0, 0, d.differenceHi) // of -1
	})},
	{"a remainder above the divisor with a borrow that is a fraction", "borrow", operated(codeDivision+codeRemainder, 6, 3, 6, func(m *machine, f *forgery) {
		// 2^32 times 1 - 2^32 is 1 modulo the field's order; the borrow of the upper limb is then 2^32 - 1.
		d := m.divisions
		f.set(d, 0, 0, d.quotient.halves[0]).set(d, 0, 6, d.remainder.halves[0])
		f.set(d, 0, uint64(goldilocks.Element(4).Mul(goldilocks.Element(0).Sub(limb-1))), d.borrow).set(d, 0, 0, d.differenceLo)
	})},
	{"a quotient whose product is 2^64 too large", "the product is a word", operated(codeDivision, 6, limb, limb, func(m *machine, f *forgery) {
		d := m.divisions
		f.set(d, 0, 1, d.quotient.halves[2])
	})},
	{"a quotient by zero", "lower limb of a quotient by zero", operated(codeDivision, 6, 0, 1<<64-limb, func(m *machine, f *forgery) {
		d := m.divisions
		f.set(d, 0, 0, d.quotient.halves[:2]...).set(d, 0, 0, d.quotient.signs[1])
	})},
	{"a remainder by zero", "lower limb of the dividend", operated(codeDivision+codeRemainder, 6, 0, 0, func(m *machine, f *forgery) {
		f.set(m.divisions, 0, 0, m.divisions.remainder.halves[0])
	})},
	{"a divisor that is said to be zero", "by zero", operated(codeDivision+codeRemainder, 6, 3, 6, func(m *machine, f *forgery) {
		d := m.divisions
		f.set(d, 0, 1, d.byZero).set(d, 0, 0, d.quotient.halves[0]).set(d, 0, 6, d.remainder.halves[0])
	})},
	{"a divisor zero that is said not to be", `bus "half"`, operated(codeDivision, 6, 0, 5, func(m *machine, f *forgery) {
		d := m.divisions
		f.set(d, 0, 0, d.byZero, d.quotient.signs[1]).set(d, 0, 0, d.quotient.halves[1:]...).set(d, 0, 5, d.quotient.halves[0])
		f.set(d, 0, 1, d.borrow)
	})},
	{"a lost carry of a negation", "lower limb of the divisor", operated(codeDivision+codeSigned+codeRemainder, 7, 1<<64-limb, 0, func(m *machine, f *forgery) {
		d := m.divisions // the absolute value of -2^32 is said to be 1
		f.set(d, 0, 0, d.divisor.halves[:2]...).set(d, 0, 0, d.divisor.signs[1], d.remainder.halves[0], d.differenceLo)
		f.set(d, 0, 6, d.quotient.halves[0]).set(d, 0, 1, d.quotient.negative)
	})},
	{"a positive divisor that is said to be negative", "sign of the divisor's magnitude", operated(codeDivision+codeSigned, 6, 3, 0, func(m *machine, f *forgery) {
		d := m.divisions // its absolute value is then 2^64 - 3
		f.set(d, 0, half-1-3, d.divisor.halves[0]).set(d, 0, half-1, d.divisor.halves[1:]...).set(d, 0, 1, d.divisor.negative, d.divisor.signs[1], d.divisor.signs[3])
		f.set(d, 0, 0, d.quotient.halves[0]).set(d, 0, 6, d.remainder.halves[0]).set(d, 0, half-1, d.differenceLo, d.differenceHi)
	})},
	{"a positive dividend that is said to be negative", `bus "sign"`, operated(codeDivision+codeSigned, 6, 2, 1<<63+3, func(m *machine, f *forgery) {
		// Then it is 6 - 2^64, and the quotient is 3 - 2^63.
		d := m.divisions
		f.set(d, 0, 1, d.negative, d.quotient.negative, d.complement, d.quotient.signs[1]).set(d, 0, 2, d.carry.lower)
		f.set(d, 0, half-4, d.quotient.halves[0]).set(d, 0, half-1, d.quotient.halves[1:3]...).set(d, 0, half/2-1, d.quotient.halves[3])
	})},
	{"a negative remainder without its sign", "negative remainder", operated(codeDivision+codeSigned+codeRemainder, negative, 2, 1, func(m *machine, f *forgery) {
		d := m.divisions
		f.set(d, 0, 0, d.remainder.negative, d.complement).set(d, 0, 1, d.remainder.halves[0])
	})},
	{"a negative quotient without its sign", "negative quotient", operated(codeDivision+codeSigned, negative-5, 2, 3, func(m *machine, f *forgery) {
		d := m.divisions
		f.set(d, 0, 0, d.quotient.negative, d.complement).set(d, 0, 3, d.quotient.halves[0])
	})},
	{"-2^63 divided by -1", `bus "half"`, operated(codeDivision+codeSigned, 1<<63, negative, 1<<63-1, func(m *machine, f *forgery) {
		// The remainder is -1, whose absolute value is that of the divisor.
		d := m.divisions
		f.set(d, 0, half-1, d.quotient.halves[:3]...).set(d, 0, half/2-1, d.quotient.halves[3])
		f.set(d, 0, 1, d.quotient.signs[1], d.remainder.negative, d.carry.lower, d.borrow).set(d, 0, half-1, d.differenceLo)
	})},
	{"a quotient of 32 bits without its sign", `bus "sign"`, operated(codeDivision+codeNarrow, 1<<31, 1, 1<<31, func(m *machine, f *forgery) {
		f.set(m.divisions, 0, 0, m.divisions.quotient.signs[1], m.divisions.extension)
	})},
}

// jumped returns the run of a jalr over an instruction, to address 16, with an odd sum.
func jumped(edits func(m *machine, f *forgery)) func(t testing.TB) *forgery {
	return func(t testing.TB) *forgery {
		s := newScript().put(left, 4*4+1)
		s.do(decoded{op: codeJump + codeJalr, rd: result, rs1: left, constant: 4 * 3}, step{address: 4*4 + 1, next: 4})
		s.instructions = append(s.instructions, decoded{address: 4 * 3, op: codeSums, rd: sink})
		f := forge(s.claim(t))
		edits(f.machine, f)
		return f
	}
}

// branched returns the run of a branch of two numbers over an instruction.
func branched(op, a, b uint64, edits func(m *machine, f *forgery)) func(t testing.TB) *forgery {
	return func(t testing.TB) *forgery {
		s := newScript().put(left, a).put(right, b).do(decoded{op: op, rs1: left, rs2: right, z: 5}, step{})
		s.instructions = append(s.instructions, decoded{address: 4 * 4, op: codeSums, rd: sink})
		f := forge(s.claim(t))
		edits(f.machine, f)
		return f
	}
}

var controlFaults = []fault{
	{"a time that belongs to another instruction", `bus "state"`, func(t testing.TB) *forgery {
		f := forge(newScript().do(decoded{op: codeSums, rd: result}, step{}).do(decoded{op: codeSums, rd: result}, step{}).claim(t))
		return f.set(f.machine.sums, 0, 2, f.machine.sums.index)
	}},
	{"the lowest bit of a jump's address is kept", `bus "target"`, jumped(func(m *machine, f *forgery) { f.set(m.jumps, 0, 0, m.jumps.odd) })},
	{"a lowest bit that is none", "odd is a bit", jumped(func(m *machine, f *forgery) {
		f.set(m.jumps, 0, 5, m.jumps.odd).set(m.jumps, 0, 3, m.jumps.successor)
	})},
	{"a jump to another instruction", `bus "target"`, func(t testing.TB) *forgery {
		s := newScript().put(left, 4*4)
		s.do(decoded{op: codeJump + codeJalr, rd: result, rs1: left, constant: 4 * 3}, step{address: 4 * 4, next: 3}).do(decoded{op: codeSums, rd: sink}, step{})
		return forge(s.claim(t))
	}},
	{"a jump into an instruction", `bus "target"`, func(t testing.TB) *forgery {
		s := newScript().put(left, 4*3+2)
		s.do(decoded{op: codeJump + codeJalr, rd: result, rs1: left, constant: 4 * 3}, step{address: 4*3 + 2, next: 3})
		return forge(s.claim(t))
	}},
	{"another return address", `bus "cell"`, jumped(func(m *machine, f *forgery) { f.written(m.jumps, 0, m.jumps.link, 4*4, 0) })},
	{"another target of jal", "target of jal", func(t testing.TB) *forgery {
		s := newScript().do(decoded{op: codeJump, rd: result, z: 3, constant: 8}, step{})
		s.instructions = append(s.instructions, decoded{address: 8, op: codeSums, rd: sink})
		f := forge(s.claim(t))
		return f.set(f.machine.jumps, 0, 2, f.machine.jumps.successor)
	}},
	{"a jal to an address without an instruction", `bus "state"`, func(t testing.TB) *forgery {
		return forge(newScript().do(decoded{op: codeJump, rd: result, z: nowhere, constant: 8}, step{}).claim(t))
	}},
	{"a branch that is not taken", "successor", branched(codeEqual, 3, 3, func(m *machine, f *forgery) { f.set(m.equal, 1, 4, m.equal.successor) })},
	{"a branch to another target", `bus "program"`, branched(codeEqual, 3, 3, func(m *machine, f *forgery) { f.set(m.equal, 1, 6, m.equal.target, m.equal.successor) })},
	{"operands that are said to differ", "limbs differ", branched(codeEqual+codeBne, 3, 3, func(m *machine, f *forgery) {
		f.set(m.equal, 1, 0, m.equal.same).set(m.equal, 1, 5, m.equal.successor)
	})},
	{"operands that are said to be equal", "upper limbs are the same", branched(codeEqual, limb, 0, func(m *machine, f *forgery) {
		f.set(m.equal, 1, 1, m.equal.same).set(m.equal, 1, 0, m.equal.inverse).set(m.equal, 1, 5, m.equal.successor)
	})},
	{"a beq for a bne", `bus "program"`, branched(codeEqual+codeBne, 3, 3, func(m *machine, f *forgery) {
		f.set(m.equal, 1, 0, m.equal.bne).set(m.equal, 1, 1, m.equal.beq).set(m.equal, 1, 5, m.equal.successor)
	})},
	{"a branch that does what its comparison does not say", "successor", branched(codeLess, 3, 5, func(m *machine, f *forgery) { f.set(m.compare, 0, 4, m.compare.successor) })},
	{"a branch whose comparison is wrong", `bus "half"`, branched(codeNotLess, 3, 5, func(m *machine, f *forgery) {
		f.set(m.compare, 0, 0, m.compare.isLess).set(m.compare, 0, 5, m.compare.successor)
	})},
	{"another entry", "successor", func(t testing.TB) *forgery {
		f := operated(codeSums, 1, 2, 3, nil)(t)
		return f.set(f.machine.equal, 0, 2, f.machine.equal.successor)
	}},
	{"the entry of another program", `bus "program"`, func(t testing.TB) *forgery {
		return forge(newScript().put(left, 1).claim(t)).instead(t, 0, func(in *decoded) { in.z = 2 })
	}},
	{"an instruction of another program", `bus "program"`, func(t testing.TB) *forgery {
		return forge(newScript().operation(codeSums, 1, 2, 3).claim(t)).instead(t, operationIndex, func(in *decoded) { *in = decoded{address: in.address} })
	}},
	{"a row of no instruction", `bus "program"`, func(t testing.TB) *forgery {
		return forge(newScript().operation(codeSums, 1, 2, 3).claim(t)).instead(t, operationIndex, func(in *decoded) { in.op = 0 })
	}},
	{"a row that begins nowhere", `bus "state"`, func(t testing.TB) *forgery {
		// Row 4 repeats the sum of row 2 at the time behind the halt, when nothing follows.
		f := operated(codeSums, 1, 2, 3, nil)(t)
		return f.repeat(f.machine.sums, added, 4, timeOf(6))
	}},
	{"a halt that is not the last", `bus "halt"`, func(t testing.TB) *forgery {
		f := operated(codeSums, 1, 2, 3, nil)(t)
		f.about.Messages[1].Tuple[0] += accesses
		return f
	}},
	{"another exit code", `bus "halt"`, func(t testing.TB) *forgery {
		f := operated(codeSums, 1, 2, 3, nil)(t)
		f.about.Messages[1].Tuple[1] = 1
		return f
	}},
	{"an instruction that is executed twice at once", `bus "half"`, func(t testing.TB) *forgery {
		f := operated(codeSums, 1, 2, 3, nil)(t)
		return f.repeat(f.machine.sums, added, 4, timeOf(operationIndex))
	}},
}

// repeat copies a row of a valid trace to a row behind it, at another time, whose accesses are in order.
func (f *forgery) repeat(at *sums, from, to int, time uint64) *forgery {
	f.copies[at] = append(f.copies[at], copied{from, to})
	registers := f.machine.registers
	f.set(at, to, time, at.time).set(at, to, 3, at.old.lo)
	for register, access := range map[int]struct {
		before column
		k      uint64
	}{left: {at.a.time, 0}, right: {at.b.time, 1}, result: {at.old.time, 3}} {
		f.set(at, to, timeOf(operationIndex)+access.k, access.before).set(registers, register, time+access.k, registers.last.time)
	}
	return f
}

// faults has all planted faults by their kind.
var faults = map[string][]fault{"registers": registerFaults, "memory": memoryFaults, "arithmetic": arithmeticFaults, "control": controlFaults}

// inseparable has the constraints that are broken with others: those that state the same of a number, or of another part of it.
var inseparable = map[string][]string{
	"read only is a bit":        {`asks "half" once at most`},
	`asks "state" once at most`: {`asks "half" once at most`},
	"first carry is a bit":      {"limb 0", "limb 1"},
	"borrow is a bit":           {"limb 3"},
}

// TestPlanted: false runs are refused, by the constraint or bus that is there for them and by no other constraint.
func TestPlanted(t *testing.T) {
	for kind, all := range faults {
		t.Run(kind, func(t *testing.T) {
			for i, of := range all {
				if i%testsize.Pick(4, 1, 1) != 0 {
					continue
				}
				f := of.make(t)
				err := f.check(t)
				refused(t, of.name, of.why, err)
				if others := slices.DeleteFunc(f.broken, func(name string) bool {
					return name == of.why || slices.Contains(inseparable[of.why], name)
				}); len(others) > 0 {
					t.Errorf("%s: broken are also %q", of.name, others)
				}
			}
		})
	}
}

// TestPlantedProofs: a false run has no proof.
func TestPlantedProofs(t *testing.T) {
	for kind, all := range faults {
		if kind != "memory" && testing.Short() {
			continue
		}
		for i, of := range all {
			if i%testsize.Pick(len(all), 16, 4) != 0 {
				continue
			}
			f := of.make(t)
			proof, err := f.system.Prove(t.Context(), executor.Serial(), f.traces(), f.about, stark.Options{})
			if err == nil {
				err = f.system.Verify(proof, f.about)
			}
			if !errors.Is(err, zkbench.ErrWitness) && !errors.Is(err, zkbench.ErrProof) {
				t.Errorf("%s: %s: %v", kind, of.name, err)
			}
		}
	}
}

// TestFaultsDocumented: docs/zkvm.md has every planted fault, and no other one.
func TestFaultsDocumented(t *testing.T) {
	doc := string(must.Get(os.ReadFile("../docs/zkvm.md"))(t))
	named := make(map[string]bool)
	for _, m := range regexp.MustCompile("`((?:registers|memory|arithmetic|control): [^`]+)`").FindAllStringSubmatch(doc, -1) {
		named[m[1]] = true
	}
	for kind, all := range faults {
		for _, of := range all {
			name := kind + ": " + of.name
			if !named[name] {
				t.Errorf("docs/zkvm.md does not have %q", name)
			}
			delete(named, name)
		}
	}
	for name := range named {
		t.Errorf("docs/zkvm.md has %q, which no test plants", name)
	}
}
