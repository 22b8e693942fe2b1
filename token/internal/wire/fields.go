// Package wire reads and writes encodings field by field, with limits, and errors that
// name the field and, of reading, its offset.
package wire

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
)

// Fields reads an encoding field by field, and remembers the first error, which
// names the field and where it starts. After it all reads return zero values.
type Fields struct {
	s     cryptobyte.String
	total int
	list  string // of the item that is read, if any
	index int
	err   error
}

// NewFields reads data, whose name is for errors, and which has at most so many
// bytes.
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

// Offset is the number of bytes read.
func (f *Fields) Offset() int { return f.total - len(f.s) }

// OK tells whether there was no error.
func (f *Fields) OK() bool { return f.err == nil }

// Item says that what is read from here on belongs to an item of a list: its name goes
// before the fields' paths, and is put together only for an error. EndItems ends that.
func (f *Fields) Item(list string, index int) { f.list, f.index = list, index }

// EndItems says that what is read from here on belongs to no item.
func (f *Fields) EndItems() { f.list = "" }

// Fail notes an error of the field that starts at an offset, unless there is one.
func (f *Fields) Fail(path string, offset int, reason string) {
	if f.err == nil {
		if f.list != "" {
			path = fmt.Sprintf("%s[%d]%s", f.list, f.index, path)
		}
		f.err = &zkbench.DecodeError{Path: path, Offset: offset, Reason: reason}
	}
}

// Version reads a version of 1 byte, of which one is known.
func (f *Fields) Version(known int) {
	at := f.Offset()
	if v := f.Number("version", 1, 0, 255); f.OK() && v != known {
		f.Fail("version", at, fmt.Sprintf("version %d, only %d is known", v, known))
	}
}

// Number reads a number of so many bytes, big-endian, between the bounds.
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

// Uint64 reads a number of 8 bytes, big-endian.
func (f *Fields) Uint64(path string) uint64 {
	n := f.Bytes(path, 8)
	if !f.OK() {
		return 0
	}
	return binary.BigEndian.Uint64(n)
}

// Bytes reads so many bytes. They are the encoding's own, without room behind them:
// appending to one field does not write over the next.
func (f *Fields) Bytes(path string, n int) []byte {
	return f.bytes(path, n, f.Offset())
}

// bytes reads the bytes of a field that starts at an offset.
func (f *Fields) bytes(path string, n, at int) []byte {
	var out []byte
	if f.OK() && !f.s.ReadBytes(&out, n) {
		f.Fail(path, at, "truncated")
	}
	return out[:len(out):len(out)]
}

// Prefixed reads a length of so many bytes, between the bounds, and as many bytes.
func (f *Fields) Prefixed(path string, size, least, most int) []byte {
	return f.Bytes(path, f.Number(path, size, least, most))
}

// Block is Prefixed, but its error gives where the length starts when the bytes are too
// few, too.
func (f *Fields) Block(path string, size, least, most int) []byte {
	at := f.Offset()
	return f.bytes(path, f.Number(path, size, least, most), at)
}

// End refuses trailing bytes of the encoding of that name, and returns the first
// error, a *zkbench.DecodeError.
func (f *Fields) End(name string) error {
	if f.OK() && len(f.s) > 0 {
		f.Fail(name, f.Offset(), "trailing bytes")
	}
	return f.err
}

// Builder writes an encoding, and remembers the first number that is out of bounds.
type Builder struct {
	cryptobyte.Builder
	err error
}

// Bound holds a number, of what is for errors, to the bounds.
func (b *Builder) Bound(what string, n, least, most int) {
	if b.err == nil && (n < least || n > most) {
		b.err = &zkbench.LimitError{What: what, Estimate: int64(n), Max: int64(most)}
	}
}

// Err returns the *zkbench.LimitError of the first number that is out of bounds.
func (b *Builder) Err() error { return b.err }

// Short writes a length of two bytes, and the data.
func (b *Builder) Short(data []byte) {
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(data) })
}
