package group

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/zkbench/zkbench/internal/sys/mapped"
)

// A file of multiples is a header followed by the entries, with the same layout as in memory:
//
//	header = description || SHA-256(points || entries), padded to storedHeader bytes
//
// Numbers are little-endian, as the limbs are on all platforms of this package. The header's length
// makes the entries begin at a page.
const (
	storedMagic  = "zkbpts\x00\x01"
	storedHeader = 4096
)

// description encodes everything that determines the entries, except the points themselves:
//
//	magic(8) points(8) bits of spacing(4) bits of a limb(4) length(4) and name of the group
func (g *native[S, E, P, J, PS, PE, PP, PJ]) description(st *stored[E]) []byte {
	limb := 64
	if g.form != nil {
		limb = 52
	}
	b := binary.LittleEndian.AppendUint64([]byte(storedMagic), uint64(st.n))
	for _, v := range []int{st.spacing, limb, len(g.domain)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return append(b, g.domain...)
}

// storedHeaderOf returns the header of a file with these entries for these points, both with the
// layout that they have in memory.
func storedHeaderOf(description, points, entries []byte) []byte {
	digest := sha256.New()
	for _, part := range [][]byte{points, entries} {
		_, _ = digest.Write(part) // which never fails
	}
	return digest.Sum(append(make([]byte, 0, storedHeader), description...))[:storedHeader]
}

// storedFile describes the file for size bytes of entries.
func storedFile(opts StoreOptions, description, points []byte, size int) *mapped.Kept {
	return &mapped.Kept{
		Path: opts.File, Size: storedHeader + int64(size), Warn: opts.Warn,
		Check: func(data []byte) error {
			if string(data[:storedHeader]) != string(storedHeaderOf(description, points, data[storedHeader:])) {
				return errors.New("damaged, or for other points")
			}
			return nil
		},
	}
}
