package zkvm

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/zkbench/zkbench/riscv"
)

// scenario is a row of a table, and what else could answer its asks.
type scenario struct {
	what string
	fill func(w *writer)
	more map[string][][]uint64
	// refused, if not nil, changes what the row is told so that there is no row for it.
	refused change
}

// change changes a tuple that answers a row.
type change func(bus string, tuple []uint64)

// cases collects scenarios of a table.
type cases struct {
	shape
	table  table
	random *rand.Rand
	words  []uint64 // operands
	all    []scenario
}

// add adds an instruction and what it does.
func (c *cases) add(in decoded, s step) *scenario {
	table := c.table.(interface {
		fill(*writer, *step, *decoded)
	})
	return c.row(fmt.Sprintf("instruction %+v, step %+v", in, s), func(w *writer) { table.fill(w, &s, &in) })
}

// row adds a row.
func (c *cases) row(what string, fill func(w *writer)) *scenario {
	c.all = append(c.all, scenario{what: what, fill: fill})
	return &c.all[len(c.all)-1]
}

// mask is the greatest word.
func (c *cases) mask() uint64 { return 1<<(2*c.limb) - 1 }

func (c *cases) word() uint64 { return c.random.Uint64() & c.mask() }

// step returns a step with a first operand. The accesses before were as long ago as no access of a step is from the next one.
func (c *cases) step(a uint64) step {
	const time = 20
	return step{index: 3, time: time, a: seen{a, time - 2}, memory: seen{c.word(), time}, old: seen{c.word(), time + 1}}
}

// two adds an instruction of two registers, or of a register and a constant.
func (c *cases) two(op, a, b, result uint64) {
	in := decoded{op: op, rd: 3, rs1: 1, rs2: 2, z: 5}
	s := c.step(a)
	if s.b = (seen{b, s.time - 1}); op&codeImmediate != 0 && in.family() != codeEqual {
		in.rs2, in.constant, s.b = firstConstant+uint64(s.index), b, seen{value: b}
	}
	s.result = result
	c.add(in, s)
}

// pairs calls f for all pairs of words.
func (c *cases) pairs(f func(a, b uint64)) {
	for _, a := range c.words {
		for _, b := range c.words {
			f(a, b)
		}
	}
}

// signed returns the number that the lowest bits of a word are.
func (c *cases) signed(word uint64, width int) int64 { return number(word, width, true).Int64() }

// extend returns the lowest bits of a word, extended by their sign.
func (c *cases) extend(word uint64, width int) uint64 {
	return uint64(c.signed(word, width)) & c.mask()
}

// rowCases are the scenarios of each table that is searched.
var rowCases = map[string]func(c *cases){
	"sums": func(c *cases) {
		c.pairs(func(a, b uint64) {
			for immediate := range uint64(2) {
				c.two(codeSums+immediate, a, b, (a+b)&c.mask())
				c.two(codeSums+codeNarrow+immediate, a, b, c.extend(a+b, c.limb))
			}
			c.two(codeSums+codeSub, a, b, (a-b)&c.mask())
			c.two(codeSums+codeSub+codeNarrow, a, b, c.extend(a-b, c.limb))
		})
	},
	"logic": func(c *cases) {
		c.pairs(func(a, b uint64) {
			for immediate := range uint64(2) {
				c.two(codeAnd+immediate, a, b, a&b)
				c.two(codeOr+immediate, a, b, a|b)
				c.two(codeXor+immediate, a, b, a^b)
			}
		})
	},
	"shifts": func(c *cases) {
		for _, a := range c.words {
			for kind := range shiftKinds {
				for amount := range 1 << c.amountBits() {
					way, fills, power := c.shifted(kind, amount)
					if fills {
						continue
					}
					s := c.step(a)
					s.result = c.shift(kind, a, amount)
					c.add(decoded{op: codeShift + uint64(way), rd: 3, rs1: 1, z: power}, s)
				}
			}
		}
	},
	"shifts by registers": func(c *cases) {
		c.pairs(func(a, b uint64) {
			for kind := range shiftKinds {
				op, shifted := codeShiftBy+2*uint64(kind), c.shift(kind, a, int(b&(1<<c.amountBits()-1)))
				c.two(op, a, b, shifted)
				if kind == kindSra || kind == kindSraw {
					c.two(op+codeImmediate, a, b, shifted)
				}
			}
		})
	},
	"equal": func(c *cases) {
		c.pairs(func(a, b uint64) {
			c.two(codeEqual, a, b, 0)
			c.two(codeEqual+codeBne, a, b, 0)
		})
	},
	"compare": func(c *cases) {
		c.pairs(func(a, b uint64) {
			for _, signed := range []uint64{0, codeSigned} {
				less := flag(a < b)
				if signed != 0 {
					less = flag(c.signed(a, 2*c.limb) < c.signed(b, 2*c.limb))
				}
				c.two(codeSet+signed, a, b, less)
				c.two(codeSet+signed+codeImmediate, a, b, less)
				c.two(codeLess+signed, a, b, 0)
				c.two(codeNotLess+signed, a, b, 0)
			}
		})
	},
	"jumps": func(c *cases) {
		// Instructions are at the lowest addresses, up to those that a base with one half can reach.
		instructions := c.radix() / 4
		var targets [][]uint64
		for i := range uint64(instructions) {
			targets = append(targets, []uint64{2 * i, i})
		}
		for _, a := range c.words {
			s := c.step(a)
			c.add(decoded{op: codeJump, rd: 3, rs1: 1, z: 5, constant: c.word()}, s)
			offset := c.random.Uint64N(4)
			jalr := decoded{op: codeJump + codeJalr, rd: 3, rs1: 1, z: offset, constant: c.word()}
			var refused change
			if s.address = a + offset; s.address >= 2*uint64(instructions) {
				s.a.value, s.address = 0, offset
				refused = c.register(1, a)
			}
			s.next = int(s.address / 2)
			row := c.add(jalr, s)
			row.refused, row.more = refused, map[string][][]uint64{busTarget: targets}
		}
	},
	"words": func(c *cases) {
		c.memory(codeWords, 2*c.limb)
		c.memory(codeWords+codeSmall, c.limb)
	},
	"narrow words": func(c *cases) {
		c.memory(codeNarrowWords, c.half)
		c.memory(codeNarrowWords+codeSmall, c.byte)
	},
	"products": func(c *cases) {
		c.pairs(func(a, b uint64) {
			for _, op := range slices.Sorted(maps.Values(productOps)) {
				c.two(op, a, b, multiplied(c.shape, op, a, b))
			}
		})
	},
	"divisions": func(c *cases) {
		c.pairs(func(a, b uint64) {
			for _, op := range slices.Sorted(maps.Values(divisionOps)) {
				c.two(op, a, b, quotientOf(c.shape, op, a, b))
			}
		})
	},
	"calls":  (*cases).calls,
	"output": (*cases).output,
}

// calls adds calls of all kinds with all arguments. A commitment is refused if the table cannot range its arguments.
func (c *cases) calls() {
	c.pairs(func(a, b uint64) {
		for kind, number := range callNumbers {
			s := c.step(number)
			s.b, s.old = seen{a, s.time - 1}, seen{b, s.time + 1}
			s.result, s.stored = a, b
			var refused change
			switch kind {
			case callInput:
				s.result, s.stored = riscv.InputAddress, inputLength
			case callCommit, callNothing:
				s.result = 0
				_, hi := c.split(a)
				if _, more := c.split(b); more > 0 || b > 0 && hi >= uint64(c.halves()) {
					s.b.value, s.old.value, s.stored = 0, 0, 0
					refused = func(bus string, tuple []uint64) {
						c.register(a0, a)(bus, tuple)
						c.register(a1, b)(bus, tuple)
					}
				}
			}
			c.add(decoded{op: codeCall}, s).refused = refused
			if kind == callInput { // no call has this number, and no other instruction is a call
				c.add(decoded{op: codeCall}, s).refused = c.register(a7, number+8)
				c.add(decoded{op: codeCall}, s).refused = c.register(a7, number+uint64(c.radix()))
				c.add(decoded{op: codeCall}, s).refused = func(bus string, instruction []uint64) {
					if bus == busProgram {
						instruction[1]++
					}
				}
			}
		}
	})
}

// output adds bytes at all places of an output, with one byte left to commit or more.
func (c *cases) output() {
	table, words := c.table.(*output), uint64(8)
	for range 40 {
		for position := range uint64(outputLength) {
			filled, phase := position/elementBytes, position%elementBytes
			o := outputByte{index: 3, time: 20, address: c.random.Uint64N(8 * words), left: 1 + c.random.Uint64N(3)}
			o.position, o.element = seen{phase<<c.limb | filled, 19}, seen{c.word(), 20}
			if phase > 0 {
				o.element.value &= 1<<phase - 1
			}
			o.memory, o.readOnly = seen{c.word(), 21}, c.random.IntN(2)
			if o.readOnly > 0 {
				o.memory.time = 0
			}
			row := c.row(fmt.Sprintf("byte %+v", o), func(w *writer) { table.fill(w, &o, outputLength-1-int(position)) })
			row.more = map[string][][]uint64{busCell: c.cells(words, o.address/8)}
			if phase == 0 && c.random.IntN(2) == 0 { // there is no such phase
				row.refused = func(bus string, cell []uint64) {
					if bus == busCell && cell[0] == spaceRegisters && cell[1] == cellPosition {
						cell[3] = elementBytes
					}
				}
			}
		}
	}
}

// What the statement of scenarios says of its streams: how many bytes they have.
const (
	inputLength  = 3
	outputLength = 12
)

// shift returns a word shifted by an amount.
func (c *cases) shift(kind int, a uint64, amount int) uint64 {
	narrow := a & uint64(c.radix()-1)
	amountNarrow := amount % c.limb
	switch kind {
	case kindSll:
		return a << amount & c.mask()
	case kindSrl:
		return a >> amount
	case kindSra:
		return uint64(c.signed(a, 2*c.limb)>>amount) & c.mask()
	case kindSllw:
		return c.extend(narrow<<amountNarrow, c.limb)
	case kindSrlw:
		return c.extend(narrow>>amountNarrow, c.limb)
	default:
		return uint64(c.signed(narrow, c.limb)>>amountNarrow) & c.mask()
	}
}

// register returns a change that gives a register other content.
func (c *cases) register(number, v uint64) change {
	return func(bus string, cell []uint64) {
		if bus == busCell && cell[0] == spaceRegisters && cell[1] == number {
			cell[2], cell[3] = c.split(v)
		}
	}
}

// memory adds loads and stores of a number of bits.
func (c *cases) memory(op uint64, size int) {
	bytes := uint64(size / c.byte)
	// A base with one half can reach these words. All have cells, in both spaces.
	words := uint64(c.radix()*c.halves()) / 8
	for _, a := range c.words {
		in := decoded{op: op, rd: 3, rs1: 1, z: c.random.Uint64N(8)}
		s := c.step(a)
		isAccessible := func(address uint64) bool {
			_, hi := c.split(a)
			return hi < uint64(c.halves()) && address%bytes == 0 && address/8 < words
		}
		if !isAccessible(a + in.z) {
			in.z &^= bytes - 1
		}
		exists := isAccessible(a + in.z)
		if s.address = a + in.z; !exists {
			s.a.value, s.address = 0, in.z
		}
		cells := map[string][][]uint64{busCell: c.cells(words, s.address/8)}
		add := func(in decoded, s step) {
			row := c.add(in, s)
			if row.more = cells; !exists {
				row.refused = c.register(1, a)
			}
		}

		bit := int(s.address%8) * c.byte
		mask := uint64(1)<<size - 1
		part := s.memory.value >> bit & mask
		s.old.value = []uint64{s.old.value, s.memory.value, part}[c.random.IntN(3)]
		load := s
		load.stored, load.result = s.memory.value, part
		for _, signed := range []uint64{0, codeSign} {
			if in.op = op + codeLoad + signed; signed != 0 {
				load.result = c.extend(part, size)
			}
			add(in, load)
			readOnly := load
			readOnly.readOnly, readOnly.memory.time = 1, 0
			add(in, readOnly)
		}
		in.op = op + codeStore
		s.result, s.stored = s.old.value, s.memory.value&^(mask<<bit)|s.old.value&mask<<bit
		add(in, s)
		c.add(in, s).refused = func(bus string, cell []uint64) {
			if bus == busCell && cell[0] == spaceMemory {
				cell[0] = spaceReadOnly
			}
		}
	}
}

// cells returns cells of memory that an instruction does not access.
func (c *cases) cells(words, accessed uint64) (all [][]uint64) {
	for _, space := range []uint64{spaceMemory, spaceReadOnly} {
		for address := range words {
			if address != accessed {
				all = append(all, []uint64{space, address, c.random.Uint64N(uint64(c.radix())), c.random.Uint64N(uint64(c.radix())), c.step(0).time - 1})
			}
		}
	}
	return all
}
