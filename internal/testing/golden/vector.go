package golden

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Vector builds a file of test vectors in the format of testdata/README.md. A line has a name and a
// value, an empty line separates records, and remarks begin with #.
type Vector struct{ text strings.Builder }

// Remark adds a remark for readers of the file.
func (v *Vector) Remark(text string) { fmt.Fprintf(&v.text, "# %s\n", text) }

// Record begins a new record.
func (v *Vector) Record() { v.text.WriteByte('\n') }

// Word adds a value that is a number or a name.
func (v *Vector) Word(name string, value any) { fmt.Fprintf(&v.text, "%s %v\n", name, value) }

// Bytes adds a value that consists of bytes, in hexadecimal.
func (v *Vector) Bytes(name string, value []byte) { v.Word(name, hex.EncodeToString(value)) }

// Parts divides value into equal parts, one for each name, and adds each part with Bytes.
func (v *Vector) Parts(value []byte, names ...string) {
	size := len(value) / len(names)
	for i, name := range names {
		v.Bytes(name, value[i*size:(i+1)*size])
	}
}

// String returns the contents of the file.
func (v *Vector) String() string { return v.text.String() }

// Indexed returns n names for each of the given names: those with the index 0 first, then those
// with the index 1, and so on. For example, Indexed(2, "x", "y") returns x[0], y[0], x[1] and
// y[1].
func Indexed(n int, names ...string) (all []string) {
	for i := range n {
		for _, name := range names {
			all = append(all, fmt.Sprintf("%s[%d]", name, i))
		}
	}
	return all
}
