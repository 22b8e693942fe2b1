package zkvm

import "github.com/zkbench/zkbench/stark/air"

// memoryAccess has the columns of an access to eight bytes of memory, with the register that it loads or stores.
type memoryAccess struct {
	readOnly, signed column
	base, register   column   // numbers of registers; the second one is loaded or stored
	offset           column   // what is added to the base
	a, other         access   // the base, and the register
	address          column   // of the eight bytes, divided by 8
	inside           []column // the offset of what is accessed from there, by bits, the lowest first
	memory           access
	after, value     word // what the memory and the register hold afterwards
}

// The codes of loads and stores are those of their families with these added. The register that is loaded or stored is rd
// in the program, and rs2 is 0.
const (
	codeLoad  = 2
	codeStore = 4
	codeSign  = 8  // the loaded value is extended by its sign
	codeSmall = 16 // the smaller one of a family's two sizes
)

func (c *columns) memoryAccess(s shape, lowest int) (m memoryAccess) {
	m.readOnly, m.signed = c.bit("read only"), c.bit("signed")
	m.base, m.register, m.offset = c.column("base", 5), c.column("register", 6), c.column("offset", free)
	m.a, m.other = c.access("a", s), c.access("register", s)
	m.address = c.column("address", 44)
	for range 3 - lowest {
		m.inside = append(m.inside, c.bit("bit of the address"))
	}
	m.memory = c.access("memory", s)
	m.after, m.value = c.word("after", s), c.word("value", s)
	return m
}

// memory states an access to memory, with the flags of its table: which rows load and which store, and the code. It returns
// what the register and the memory held before, and what they hold afterwards.
func (b builder) memory(in instruction, m memoryAccess, load, store, op air.Expr) (register, value, before, after limbs) {
	real, readOnly, time := load.Add(store), b.at(m.readOnly), b.at(in.time)
	b.bit("read only", m.readOnly)
	b.bit("signed", m.signed)
	b.instruction(in, real, code{
		op: sum(op, load.Times(codeLoad), store.Times(codeStore), b.at(m.signed).Times(codeSign)),
		rd: b.at(m.register), rs1: b.at(m.base), z: b.at(m.offset),
	}, b.at(in.index).Add(real))
	base := b.word(m.a.word)
	register, value = b.word(m.other.word), b.word(m.value)
	before, after = b.word(m.memory.word), b.word(m.after)
	b.register(base, m.a.time, real, real, b.at(m.base), time, 0, base)
	b.register(register, m.other.time, real, real, b.at(m.register), time, 3, value)

	// The address is below 2^44, because there are cells at such addresses only, and the base is below 2^48. So both sides are
	// numbers, not only numbers modulo the field's order.
	address := b.at(m.address)
	b.zero("address", sum(address.Times(8), b.inside(m.inside)).Sub(base.lo).Sub(base.hi.Times(b.radix())).Sub(b.at(m.offset)))
	b.rangeHalf(real, base.hi)

	b.zero("stores write", store.Mul(readOnly))
	b.eightBytes(m.memory, real, readOnly, address, time, after)
	b.zero("a store keeps the register's lower limb", store.Mul(value.lo.Sub(register.lo)))
	b.zero("a store keeps the register's upper limb", store.Mul(value.hi.Sub(register.hi)))
	return register, value, before, after
}

// inside states that columns are the lowest bits of an address, the lowest first, except those that are 0 because of the access'
// size. It returns the offset in eight bytes.
func (b builder) inside(columns []column) (offset air.Expr) {
	for i, column := range columns {
		b.bit("bit of the address", column)
		offset = offset.Add(b.at(column).Times(1 << (3 - len(columns) + i)))
	}
	return offset
}

// inside sets the lowest bits of an address.
func (w *writer) inside(columns []column, address uint64) {
	for i, column := range columns {
		w.set(column, address>>(3-len(columns)+i)&1)
	}
}

// eightBytes states the access to memory of an instruction that begins at time: access 2, to eight bytes, which hold after
// from then on. In rows where readOnly is 1 they are in the space of cells that are never written: such cells answer any number
// of loads, and are not written back.
func (b builder) eightBytes(m access, real, readOnly, address, time air.Expr, after limbs) {
	before, was, writes := b.word(m.word), b.at(m.time), real.Sub(readOnly)
	b.Ask(busCell, real, readOnly.Plus(spaceMemory), address, before.lo, before.hi, was)
	b.Answer(busCell, writes, air.Constant(spaceMemory), address, after.lo, after.hi, time.Plus(2))
	b.rangeHalf(writes, time.Plus(1).Sub(was))
}

// eightBytes sets what an access to memory found. The cell's number is that of step.readOnly.
func (w *writer) eightBytes(m access, readOnly column, found seen, number int, time uint64) {
	w.setWord(m.word, found.value)
	if number > 0 {
		w.set(readOnly, 1)
		w.counts.loaded[number-1]++
	} else {
		w.before(m.time, found, time+2)
	}
}

// memory sets the columns of an access to memory.
func (w *writer) memory(in instruction, m memoryAccess, s *step, of *decoded) {
	w.instruction(in, s)
	w.set(m.base, of.rs1)
	w.set(m.register, of.rd)
	w.set(m.offset, of.z)
	w.set(m.signed, flag(of.op&codeSign != 0))
	w.access(m.a, s.a, s.time)
	w.access(m.other, s.old, s.time+3)
	w.setWord(m.value, s.result)
	_, hi := w.split(s.a.value)
	w.half(hi)
	w.set(m.address, s.address/8)
	w.inside(m.inside, s.address)
	w.setWord(m.after, s.stored)
	w.eightBytes(m.memory, m.readOnly, s.memory, s.readOnly, s.time)
}

// parts has the columns that take a byte out of a word: the half of the word that has it, the limb's other half, the byte, and
// the half's other byte.
type parts struct{ half, otherHalf, part, otherPart column }

func (c *columns) parts(s shape) parts {
	return parts{c.column("half", s.half), c.column("other half", s.half), c.column("byte", s.byte), c.column("other byte", s.byte)}
}

// parts states the parts of a word at an address with the given bits inside of it, the lowest first.
func (b builder) parts(p parts, real air.Expr, of limbs, inside []column) {
	half, otherHalf, part, otherPart := b.at(p.half), b.at(p.otherHalf), b.at(p.part), b.at(p.otherPart)
	odd, upperHalf, upperLimb := b.at(inside[0]), b.at(inside[1]), b.at(inside[2])
	limb := of.lo.Add(upperLimb.Mul(of.hi.Sub(of.lo)))
	b.zero("halves of the limb", limb.Sub(half).Sub(otherHalf.Times(b.halves())).Sub(upperHalf.Mul(half.Sub(otherHalf)).Times(b.halves()-1)))
	b.zero("bytes of the half", half.Sub(part).Sub(otherPart.Times(b.byteRadix())).Sub(odd.Mul(part.Sub(otherPart)).Times(b.byteRadix()-1)))
	b.Ask(busBytes, real, part, otherPart)
	b.rangeHalf(real, otherHalf)
}

// parts sets the parts of a word at an address, and returns the half and the byte.
func (w *writer) parts(p parts, word, address uint64) (half, part uint64) {
	half, otherHalf := w.halvesAt(word, address)
	part, otherPart := half&uint64(w.byteRadix()-1), half>>w.byte
	if address&1 != 0 {
		part, otherPart = otherPart, part
	}
	w.set(p.half, half)
	w.set(p.otherHalf, otherHalf)
	w.half(otherHalf)
	w.set(p.part, part)
	w.set(p.otherPart, otherPart)
	w.bytes(part, otherPart)
	return half, part
}

// halvesAt returns the half of a word at an address, and the other half of its limb.
func (s shape) halvesAt(word, address uint64) (half, other uint64) {
	limb := word >> (address >> 2 & 1 * uint64(s.limb)) & uint64(s.radix()-1)
	half, other = limb&uint64(s.halves()-1), limb>>s.half
	if address>>1&1 != 0 {
		half, other = other, half
	}
	return half, other
}

// words is the table of ld, sd, lw, lwu and sw.
type words struct {
	columns
	instruction
	memoryAccess
	load, store, loadHalf, storeHalf column // one of them is 1 in a row of an instruction; a half has a limb
	upper, sign                      column // of the lower limb of the register
}

func newWords(s shape) *words {
	t := &words{}
	t.instruction = t.columns.instruction()
	t.load, t.store = t.bit("load"), t.bit("store")
	t.loadHalf, t.storeHalf = t.bit("load half"), t.bit("store half")
	t.memoryAccess = t.columns.memoryAccess(s, 2)
	t.upper, t.sign = t.column("upper", s.half), t.bit("sign")
	return t
}

func (*words) name() string        { return "words" }
func (t *words) shapeOf() *columns { return &t.columns }

func (t *words) state(b builder) {
	load, store, loadHalf, storeHalf := b.at(t.load), b.at(t.store), b.at(t.loadHalf), b.at(t.storeHalf)
	for _, flag := range []column{t.load, t.store, t.loadHalf, t.storeHalf} {
		b.bit(t.names[flag], flag)
	}
	half := loadHalf.Add(storeHalf)
	real := sum(load, store, half)
	register, value, before, after := b.memory(t.instruction, t.memoryAccess, load.Add(loadHalf), store.Add(storeHalf),
		real.Times(codeWords).Add(half.Times(codeSmall)))
	upperHalf, sign := b.at(t.inside[0]), b.at(t.sign)
	b.zero("eight bytes are aligned", upperHalf.Mul(load.Add(store)))
	b.rangeSigned(real, value.lo, b.at(t.upper), sign)

	loads := load.Add(loadHalf)
	b.zero("a load keeps the lower limb", loads.Mul(after.lo.Sub(before.lo)))
	b.zero("a load keeps the upper limb", loads.Mul(after.hi.Sub(before.hi)))
	b.zero("load, lower limb", load.Mul(value.lo.Sub(before.lo)))
	b.zero("load, upper limb", load.Mul(value.hi.Sub(before.hi)))
	b.zero("load of a half", loadHalf.Mul(value.lo.Sub(before.lo).Sub(upperHalf.Mul(before.hi.Sub(before.lo)))))
	b.zero("sign of a half", loadHalf.Mul(value.hi.Sub(b.at(t.signed).Mul(sign).Times(b.radix()-1))))
	b.zero("store, lower limb", store.Mul(after.lo.Sub(register.lo)))
	b.zero("store, upper limb", store.Mul(after.hi.Sub(register.hi)))
	b.zero("store of a half, lower limb", storeHalf.Mul(after.lo.Sub(register.lo).Sub(upperHalf.Mul(before.lo.Sub(register.lo)))))
	b.zero("store of a half, upper limb", storeHalf.Mul(after.hi.Sub(before.hi).Sub(upperHalf.Mul(register.lo.Sub(before.hi)))))
}

func (t *words) fill(w *writer, s *step, in *decoded) {
	w.memory(t.instruction, t.memoryAccess, s, in)
	kinds := map[uint64]column{codeLoad: t.load, codeStore: t.store, codeLoad + codeSmall: t.loadHalf, codeStore + codeSmall: t.storeHalf}
	w.set(kinds[in.op&(codeLoad|codeStore|codeSmall)], 1)
	lo, _ := w.split(s.result)
	w.set(t.sign, w.upperSigned(t.upper, lo))
}

// narrowWords is the table of lb, lbu, lh, lhu, sb and sh.
type narrowWords struct {
	columns
	instruction
	memoryAccess
	loadByte, loadHalf, storeByte, storeHalf column // one of them is 1 in a row of an instruction; a half is half a limb
	parts
	moved, sign         column // the accessed byte, times 2^8, or half, and its highest bit
	first, second, rest column // the register's lower limb: two bytes, and the half above them
	stored              column // what the half is afterwards
}

func newNarrowWords(s shape) *narrowWords {
	t := &narrowWords{}
	t.instruction = t.columns.instruction()
	t.loadByte, t.loadHalf = t.bit("load byte"), t.bit("load half")
	t.storeByte, t.storeHalf = t.bit("store byte"), t.bit("store half")
	t.memoryAccess = t.columns.memoryAccess(s, 0)
	t.parts = t.columns.parts(s)
	t.moved, t.sign = t.column("moved", s.half), t.bit("sign")
	t.first, t.second, t.rest = t.column("first", s.byte), t.column("second", s.byte), t.column("rest", s.half)
	t.stored = t.column("stored", s.half)
	return t
}

func (*narrowWords) name() string        { return "narrow words" }
func (t *narrowWords) shapeOf() *columns { return &t.columns }

func (t *narrowWords) state(b builder) {
	loadByte, loadHalf, storeByte, storeHalf := b.at(t.loadByte), b.at(t.loadHalf), b.at(t.storeByte), b.at(t.storeHalf)
	for _, flag := range []column{t.loadByte, t.loadHalf, t.storeByte, t.storeHalf} {
		b.bit(t.names[flag], flag)
	}
	isByte, isHalf := loadByte.Add(storeByte), loadHalf.Add(storeHalf)
	real := isByte.Add(isHalf)
	register, value, before, after := b.memory(t.instruction, t.memoryAccess, loadByte.Add(loadHalf), storeByte.Add(storeHalf),
		real.Times(codeNarrowWords).Add(isByte.Times(codeSmall)))
	odd, upperHalf, upperLimb := b.at(t.inside[0]), b.at(t.inside[1]), b.at(t.inside[2])
	b.zero("halves are aligned", odd.Mul(isHalf))

	b.parts(t.parts, real, before, t.inside)
	half, part, bytes := b.at(t.half), b.at(t.part), b.byteRadix()

	moved, sign := b.at(t.moved), b.at(t.sign)
	extended := b.at(t.signed).Mul(sign)
	b.zero("moved", moved.Sub(half).Sub(isByte.Mul(part.Times(bytes).Sub(half))))
	b.rangeSign(real, moved, sign)
	b.zero("load of a byte", loadByte.Mul(value.lo.Sub(part).Sub(extended.Times(b.radix()-bytes))))
	b.zero("load of a half", loadHalf.Mul(value.lo.Sub(half).Sub(extended.Times(b.radix()-b.halves()))))
	b.zero("upper limb of a load", loadByte.Add(loadHalf).Mul(value.hi.Sub(extended.Times(b.radix()-1))))

	first, second, rest, stored := b.at(t.first), b.at(t.second), b.at(t.rest), b.at(t.stored)
	b.zero("bytes of the register", register.lo.Sub(first).Sub(second.Times(bytes)).Sub(rest.Times(b.halves())))
	b.Ask(busBytes, real, first, second)
	b.rangeHalf(real, rest)
	b.zero("stored", stored.Sub(half).Sub(storeByte.Mul(first.Sub(part)).Mul(one.Add(odd.Times(bytes-1)))).
		Sub(storeHalf.Mul(first.Add(second.Times(bytes)).Sub(half))))
	change := stored.Sub(half).Mul(one.Add(upperHalf.Times(b.halves() - 1)))
	b.zero("lower limb afterwards", after.lo.Sub(before.lo).Sub(one.Sub(upperLimb).Mul(change)))
	b.zero("upper limb afterwards", after.hi.Sub(before.hi).Sub(upperLimb.Mul(change)))
}

func (t *narrowWords) fill(w *writer, s *step, in *decoded) {
	w.memory(t.instruction, t.memoryAccess, s, in)
	isByte := in.op&codeSmall != 0
	switch load := in.op&codeLoad != 0; {
	case load && isByte:
		w.set(t.loadByte, 1)
	case load:
		w.set(t.loadHalf, 1)
	case isByte:
		w.set(t.storeByte, 1)
	default:
		w.set(t.storeHalf, 1)
	}
	half, part := w.parts(t.parts, s.memory.value, s.address)
	moved := half
	if isByte {
		moved = part << w.byte
	}
	w.set(t.moved, moved)
	w.set(t.sign, w.signOf(moved))
	first, second := w.byteOf(s.old.value, 0), w.byteOf(s.old.value, 1)
	rest := s.old.value >> w.shape.half & uint64(w.halves()-1)
	w.set(t.first, first)
	w.set(t.second, second)
	w.bytes(first, second)
	w.set(t.rest, rest)
	w.half(rest)
	stored, _ := w.halvesAt(s.stored, s.address)
	w.set(t.stored, stored)
}
