package golden

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Vector writes a file of vectors in the form that testdata/README.md describes: lines of a name and
// a value, records apart by an empty line, remarks behind #.
type Vector struct{ text strings.Builder }

// Remark writes what a reader must know of the file.
func (v *Vector) Remark(text string) { fmt.Fprintf(&v.text, "# %s\n", text) }

// Record begins the next record.
func (v *Vector) Record() { v.text.WriteByte('\n') }

// Word writes a value that is a number or a name.
func (v *Vector) Word(name string, value any) { fmt.Fprintf(&v.text, "%s %v\n", name, value) }

// Bytes writes a value that is bytes.
func (v *Vector) Bytes(name string, value []byte) { v.Word(name, hex.EncodeToString(value)) }

// Parts cuts bytes that lie one after the other into equal parts, one for each name, and writes those.
func (v *Vector) Parts(value []byte, names ...string) {
	size := len(value) / len(names)
	for i, name := range names {
		v.Bytes(name, value[i*size:(i+1)*size])
	}
}

// String returns the file.
func (v *Vector) String() string { return v.text.String() }

// Indexed returns the names name[0], .., name[n-1]. Of several names, those of one index stand together.
func Indexed(n int, names ...string) (all []string) {
	for i := range n {
		for _, name := range names {
			all = append(all, fmt.Sprintf("%s[%d]", name, i))
		}
	}
	return all
}
