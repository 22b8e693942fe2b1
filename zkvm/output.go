package zkvm

import (
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/stark/air"
)

// elementBytes is the number of bytes in an element of a stream. They are below the field's order: a word less one byte.
const elementBytes = wordBytes - 1

// limbBytes is the number of bytes in a limb of any shape.
const limbBytes = wordBytes / 2

// Cells of the registers' space that no instruction names have the state of the output.
const (
	// cellPosition is the number of committed bytes: the lower limb counts the elements that they fill, and the upper limb the
	// bytes behind those.
	cellPosition = sink + 1 + iota
	// cellElement has the bytes that were committed since the last element began.
	cellElement
)

// output is the table of committed bytes, one in a row. A row takes the time of an instruction, and leads to the row of the next
// byte or, behind the last byte of a call, to the instruction behind the call.
type output struct {
	columns
	instruction                       // the index is that of the instruction behind the call
	phases       [elementBytes]column // one of them is 1 in a row of a byte: its place in the element
	left, last   column               // bytes of the call from this one on; whether this one is the last
	filled       column               // number of elements before this byte's
	positionTime column
	element      access // bytes of the element so far
	after        word   // the same with this byte
	ends         column // whether the byte is the last of the output
	inverse      column // of the number of bytes of the output behind this one
	readOnly     column
	address      column   // of eight bytes of memory, divided by 8
	inside       []column // the offset of the byte from there, by bits, the lowest first
	memory       access
	parts
}

func newOutput(s shape) *output {
	t := &output{}
	t.instruction = t.columns.instruction()
	for i := range t.phases {
		t.phases[i] = t.bit("phase")
	}
	t.left, t.last = t.column("left", s.limb), t.bit("last")
	t.filled, t.positionTime = t.column("filled", s.limb), t.column("position.time", timeBits)
	t.element, t.after = t.columns.access("element", s), t.columns.word("after", s)
	t.ends, t.inverse = t.bit("ends"), t.column("inverse", free)
	t.readOnly, t.address = t.bit("read only"), t.column("address", 44)
	for range 3 {
		t.inside = append(t.inside, t.bit("bit of the address"))
	}
	t.memory = t.columns.access("memory", s)
	t.parts = t.columns.parts(s)
	return t
}

func (*output) name() string        { return "output" }
func (t *output) shapeOf() *columns { return &t.columns }

func (t *output) state(b builder) {
	index, time, last, ends := b.at(t.index), b.at(t.time), b.at(t.last), b.at(t.ends)
	address, left, readOnly := b.at(t.address), b.at(t.left), b.at(t.readOnly)
	var real, phase, weightLo, weightHi air.Expr
	for i, column := range t.phases {
		b.bit("phase", column)
		is := b.at(column)
		real, phase = real.Add(is), phase.Add(is.Times(int64(i)))
		if i < limbBytes {
			weightLo = weightLo.Add(is.Times(1 << (i * b.byte)))
		} else {
			weightHi = weightHi.Add(is.Times(1 << ((i - limbBytes) * b.byte)))
		}
	}
	first, full := b.at(t.phases[0]), b.at(t.phases[elementBytes-1])

	// A call's rows count its length down to 1 in the row that leads on to an instruction. A row in which left is 0 or 1 and
	// which is not the last would lead to as many rows as the field has elements.
	b.bit("last", t.last)
	b.zero("only a byte is the last", last.Mul(one.Sub(real)))
	b.zero("one byte is left", last.Mul(left.Sub(one)))
	at := address.Times(wordBytes).Add(b.inside(t.inside))
	b.Ask(busCommit, real, time, index, at, left)
	b.Answer(busCommit, real.Sub(last), time.Plus(accesses), index, at.Add(one), left.Sub(one))
	b.Answer(busState, last, index, time.Plus(accesses))

	// The byte. Addresses of cells are below 2^44, so that the address of the byte is a number.
	b.bit("read only", t.readOnly)
	content := b.word(t.memory.word)
	b.eightBytes(t.memory, real, readOnly, address, time, content)
	b.parts(t.parts, real, content, t.inside)

	filled := b.at(t.filled)
	b.register(limbs{filled, phase}, t.positionTime, real, real, real.Times(cellPosition), time, 0,
		limbs{filled.Add(full), phase.Add(real).Sub(full.Times(elementBytes))})
	element, after, part := b.word(t.element.word), b.word(t.after), b.at(t.part)
	b.zero("lower limb of the element", after.lo.Sub(one.Sub(first).Mul(element.lo)).Sub(part.Mul(weightLo)))
	b.zero("upper limb of the element", after.hi.Sub(one.Sub(first).Mul(element.hi)).Sub(part.Mul(weightHi)))
	b.register(element, t.element.time, real, real, real.Times(cellElement), time, 1, after)

	// An element is complete if it is full, or if the output ends.
	behind := b.Public(publicOutput).Sub(filled.Times(elementBytes)).Sub(phase).Sub(one)
	b.zero("nothing is behind the end", ends.Mul(behind))
	b.zero("something is behind other bytes", behind.Mul(b.at(t.inverse)).Add(ends).Sub(real))
	complete := full.Add(ends).Sub(full.Mul(ends))
	b.Answer(busElement, complete, air.Constant(streamOutput), filled.Add(one), after.lo.Add(after.hi.Times(b.radix())))
}

// outputByte is a row of output.
type outputByte struct {
	index                     int    // of the instruction behind the call
	time                      uint64 // when the row begins
	address, left             uint64 // of the byte, and the bytes of the call from it on
	position, element, memory seen
	readOnly                  int // as in step
}

// outputCells returns what the cells of the output hold after a byte.
func (s shape) outputCells(position, element, byte uint64) (nextPosition, nextElement uint64) {
	filled, phase := s.split(position)
	if phase == 0 {
		element = 0
	}
	element |= byte << (phase * uint64(s.byte))
	if phase++; phase == elementBytes {
		filled, phase = filled+1, 0
	}
	return phase<<s.limb | filled, element
}

// fill fills the row of a byte with the given number of bytes of the output behind it.
func (t *output) fill(w *writer, o *outputByte, behind int) {
	filled, phase := w.split(o.position.value)
	w.set(t.index, uint64(o.index))
	w.set(t.time, o.time)
	w.set(t.phases[phase], 1)
	w.set(t.left, o.left)
	w.set(t.last, flag(o.left == 1))
	w.set(t.filled, filled)
	w.before(t.positionTime, o.position, o.time)
	w.access(t.element, o.element, o.time+1)
	w.set(t.ends, flag(behind == 0))
	if behind > 0 {
		w.set(t.inverse, uint64(goldilocks.Element(behind).Inverse()))
	}
	w.set(t.address, o.address/wordBytes)
	w.inside(t.inside, o.address)
	w.eightBytes(t.memory, t.readOnly, o.memory, o.readOnly, o.time)
	_, part := w.parts(t.parts, o.memory.value, o.address)
	_, after := w.outputCells(o.position.value, o.element.value, part)
	w.setWord(t.after, after)
}
