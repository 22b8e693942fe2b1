package zkvm

import (
	"encoding/binary"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/stark/air"
)

// inputBytes is the number of bytes in a row of the input: the least that is a number of words and one of elements.
const (
	inputBytes    = inputWords * wordBytes
	inputWords    = elementBytes // in a row
	inputElements = wordBytes    // in a row
)

// input is the table of the input: cells of memory that are never written, which any number of loads read. Every word with a
// byte of the input is a cell. Its bytes behind the input are 0. There are no cells behind those, although an executor maps whole
// pages: a run that reads there has no proof.
type input struct {
	columns
	before column             // number of bytes in the rows before
	bytes  [inputBytes]column // the first one first
	last   [inputBytes]column // 1 at the last byte of the input in the row; all 0 in rows behind the input
	loaded [inputWords]column // how often a word is loaded
}

func newInput(s shape) *input {
	t := &input{}
	t.before = t.column("before", 32)
	for i := range t.bytes {
		t.bytes[i] = t.column("byte", s.byte)
	}
	for i := range t.last {
		t.last[i] = t.bit("last")
	}
	for i := range t.loaded {
		t.loaded[i] = t.column("loaded", free)
	}
	return t
}

func (*input) name() string        { return "input" }
func (t *input) shapeOf() *columns { return &t.columns }

func (t *input) state(b builder) {
	// has[i] is 1 if the row has byte i, because some byte from i on is the last one. Then it has all bytes before.
	var has [inputBytes + 1]air.Expr
	var count air.Expr
	for i := inputBytes - 1; i >= 0; i-- {
		b.bit("last", t.last[i])
		has[i] = has[i+1].Add(b.at(t.last[i]))
		count = count.Add(b.at(t.last[i]).Times(int64(i) + 1))
	}
	b.zero("one byte is the last", has[0].Bool())
	for i, column := range t.bytes {
		b.zero("bytes behind the input are 0", b.at(column).Mul(one.Sub(has[i])))
	}
	for i := 0; i < inputBytes; i += 2 {
		b.Ask(busBytes, has[0], b.at(t.bytes[i]), b.at(t.bytes[i+1]))
	}

	// Only a full row has another one behind it. So rows behind the input are the last ones, and all rows together have as many
	// bytes as the last row counts.
	var next air.Expr
	for _, column := range t.last {
		next = next.Add(b.Next(int(column)))
	}
	before := b.at(t.before)
	b.Zero(air.First, "bytes before the first row", before)
	b.Zero(air.Transition, "bytes before the next row", b.Next(int(t.before)).Sub(before).Sub(count))
	b.Zero(air.Transition, "another row", next.Mul(one.Sub(has[inputBytes-1])))
	b.Zero(air.Last, "length of the input", before.Add(count).Sub(b.Public(publicInput)))

	// In rows of the input the number of bytes before is a multiple of those of a row, and so the quotients are numbers.
	firstWord := divided(before, wordBytes).Plus(riscv.InputAddress / wordBytes)
	for i, column := range t.loaded {
		loaded, from := b.at(column), i*wordBytes
		b.zero("loads of the input only", loaded.Mul(one.Sub(has[from])))
		word := b.bytes(t.bytes[from : from+wordBytes])
		b.Answer(busCell, loaded, air.Constant(spaceReadOnly), firstWord.Plus(int64(i)), word.lo, word.hi, zero)
	}
	firstElement := divided(before, elementBytes).Plus(1)
	for i := range inputElements {
		from := i * elementBytes
		b.Answer(busElement, has[from], air.Constant(streamInput), firstElement.Plus(int64(i)), b.number(t.bytes[from:from+elementBytes]))
	}
}

// divided returns the expression e/n, for a number e that is a multiple of n.
func divided(e air.Expr, n uint64) air.Expr {
	return air.Element(uint64(goldilocks.Element(n).Inverse())).Mul(e)
}

// fill fills row i of the input. The counts of the tables before have how often its words are loaded.
func (t *input) fill(w *writer, data []byte, i int, loaded []uint32) {
	w.set(t.before, uint64(min(i*inputBytes, len(data))))
	if i*inputBytes >= len(data) {
		return
	}
	var row [inputBytes]byte
	n := copy(row[:], data[i*inputBytes:])
	w.set(t.last[n-1], 1)
	for j, v := range row {
		w.set(t.bytes[j], uint64(v))
		if j%2 == 1 {
			w.bytes(uint64(row[j-1]), uint64(v))
		}
	}
	for j, column := range t.loaded {
		if word := i*inputWords + j; word < len(loaded) {
			w.set(column, uint64(loaded[word]))
		}
	}
}

// inputRows returns the number of rows of an input.
func inputRows(data []byte) int { return (len(data) + inputBytes - 1) / inputBytes }

// wordsOf returns the number of cells of an input.
func wordsOf(data []byte) int { return (len(data) + wordBytes - 1) / wordBytes }

// inputWord returns the content of a cell of an input.
func inputWord(data []byte, i int) uint64 {
	var word [wordBytes]byte
	copy(word[:], data[i*wordBytes:])
	return binary.LittleEndian.Uint64(word[:])
}

// pageBytes is the size of a page: an executor maps whole ones.
const pageBytes = 4096

// checkRead returns zkbench.ErrParams if an instruction, given by its address, reads n bytes at an address of which some are behind
// the cells of the input.
func (x *execution) checkRead(instruction, address, n uint64) error {
	data := x.options.Input
	end, mapped := x.inputAt+uint64(wordsOf(data))*wordBytes, x.inputAt+(uint64(len(data))+pageBytes-1)&^(pageBytes-1)
	if address < mapped && address+n > end {
		return refuse("read behind the input", "the instruction at %#x reads %d bytes at %#x, behind the input of %d bytes", instruction, n, address, len(data))
	}
	return nil
}
