// Package wire reads and writes encodings field by field, within limits. Errors name the field and, when
// reading, its offset.
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
)

// Fields reads an encoding field by field and stores the first error, which names the field and its offset.
// After an error all reads return zero values.
type Fields struct {
	s     cryptobyte.String
	total int
	list  string // the list whose item is being read, if any
	index int
	err   error
}

// NewFields returns the Fields of the encoding in data. They store an error if len(data) > most. Errors
// refer to data by the string given as name.
func NewFields(data []byte, name string, most int) *Fields {
	f := &Fields{s: data, total: len(data)}
	f.bound(name, most) // apart, so that this is inlined and f stays on the caller's stack
	return f
}

func (f *Fields) bound(name string, most int) {
	if f.total > most {
		f.Fail(name, 0, fmt.Sprintf("%d bytes, accepted are up to %d", f.total, most))
	}
}

// Offset returns the number of bytes read.
func (f *Fields) Offset() int { return f.total - len(f.s) }

// OK reports whether no error has occurred.
func (f *Fields) OK() bool { return f.err == nil }

// Err returns the first error, of type *zkbench.DecodeError unless a function given to Decoded or Part returned
// another, or nil.
func (f *Fields) Err() error { return f.err }

// Item marks the following fields, until EndItems is called, as parts of one item of a list. In errors
// about these fields, the list's name and the index come before the field's path. The combined path is
// built only if there is an error.
func (f *Fields) Item(list string, index int) { f.list, f.index = list, index }

// EndItems ends the item that Item began: the following fields belong to no item.
func (f *Fields) EndItems() { f.list = "" }

// Fail stores an error about the field with the given path and offset, unless an error is stored already.
func (f *Fields) Fail(path string, offset int, reason string) {
	if f.err == nil {
		if f.list != "" {
			path = fmt.Sprintf("%s[%d]%s", f.list, f.index, path)
		}
		f.err = &zkbench.DecodeError{Path: path, Offset: offset, Reason: reason}
	}
}

// Version reads a version of 1 byte. It fails if the version is not equal to the parameter known.
func (f *Fields) Version(known int) {
	at := f.Offset()
	if v := f.Number("version", 1, 0, 255); f.OK() && v != known {
		f.Fail("version", at, fmt.Sprintf("version %d, only %d is known", v, known))
	}
}

// Number reads a big-endian number n, which is encoded in size bytes. It fails unless least ≤ n ≤ most.
func (f *Fields) Number(path string, size, least, most int) int {
	at, n := f.Offset(), 0
	for _, b := range f.Bytes(path, size) {
		n = n<<8 | int(b)
	}
	if f.OK() && (n < least || n > most) {
		f.Fail(path, at, fmt.Sprintf("%d, accepted are %d to %d", n, least, most))
	}
	if !f.OK() {
		return 0
	}
	return n
}

// Uint64 reads a big-endian number of 8 bytes.
func (f *Fields) Uint64(path string) uint64 {
	n := f.Bytes(path, 8)
	if !f.OK() {
		return 0
	}
	return binary.BigEndian.Uint64(n)
}

// Bytes reads n bytes. The slice refers to the encoding, and its capacity is n: appending to one field does not
// overwrite the next.
func (f *Fields) Bytes(path string, n int) []byte {
	return f.bytes(path, n, f.Offset())
}

// bytes reads n bytes of a field that starts at offset at.
func (f *Fields) bytes(path string, n, at int) []byte {
	var out []byte
	if f.OK() && !f.s.ReadBytes(&out, n) {
		f.Fail(path, at, "truncated")
	}
	return out[:len(out):len(out)]
}

// Prefixed reads a length n, which is encoded in size bytes, and then reads n bytes. It fails unless least
// ≤ n ≤ most.
func (f *Fields) Prefixed(path string, size, least, most int) []byte {
	return f.Bytes(path, f.Number(path, size, least, most))
}

// Block reads like Prefixed. If there are too few bytes, its error has the offset of the length, not that of
// the bytes.
func (f *Fields) Block(path string, size, least, most int) []byte {
	at := f.Offset()
	return f.bytes(path, f.Number(path, size, least, most), at)
}

// Decoded reads n bytes and decodes them. If decode returns a *zkbench.DecodeError, its offset becomes one in the
// whole encoding.
func Decoded[T any](f *Fields, path string, n int, decode func(data []byte) (T, error)) (value T) {
	at := f.Offset()
	data := f.Bytes(path, n)
	if !f.OK() {
		return value
	}
	value, err := decode(data)
	f.failAt(at, err)
	return value
}

// Part reads a part of unknown length. The function decode gets all bytes that have not been read, and returns a
// value and the number of bytes that it has read. If it returns a *zkbench.DecodeError, its path and offset
// become ones in the whole encoding.
func Part[T any](f *Fields, decode func(data []byte) (value T, n int, err error)) (value T) {
	if !f.OK() {
		return value
	}
	at := f.Offset()
	value, n, err := decode(f.s)
	if f.failAt(at, err); !f.OK() || !f.s.Skip(n) {
		return *new(T)
	}
	return value
}

// failAt stores the error of a part that starts at offset at, if it is not nil.
func (f *Fields) failAt(at int, err error) {
	if d, ok := errors.AsType[*zkbench.DecodeError](err); ok {
		item := ""
		if f.list != "" {
			item = fmt.Sprintf("%s[%d]", f.list, f.index)
		}
		err = d.Within(item, at)
	}
	if f.err == nil {
		f.err = err
	}
}

// End stores an error if bytes follow the encoding. It returns the first stored error, of type
// *zkbench.DecodeError, or nil. Errors refer to the encoding by the string given as name.
func (f *Fields) End(name string) error {
	if f.OK() && len(f.s) > 0 {
		f.Fail(name, f.Offset(), "trailing bytes")
	}
	return f.err
}

// Builder writes an encoding and stores an error for the first number that is out of bounds.
type Builder struct {
	cryptobyte.Builder
	err error
}

// Bound checks that least ≤ n ≤ most. Errors refer to n by the string in the parameter what.
func (b *Builder) Bound(what string, n, least, most int) {
	if b.err == nil && (n < least || n > most) {
		b.err = &zkbench.LimitError{What: what, Estimate: int64(n), Max: int64(most)}
	}
}

// Err returns the *zkbench.LimitError of the first number that is out of bounds.
func (b *Builder) Err() error { return b.err }

// Short writes the length of data in two bytes, and then data.
func (b *Builder) Short(data []byte) {
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(data) })
}
