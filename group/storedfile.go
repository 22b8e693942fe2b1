package group

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/zkbench/zkbench/internal/sys/mapped"
)

// The file of multiples: a header, and the entries as they lie in memory.
//
//	header = what they are (description), SHA-256 of the points and the entries
//
// Numbers are little-endian, as the limbs are on all platforms of this package; the header
// takes storedHeader bytes, so that entries begin at a page.
const (
	storedMagic  = "zkbpts\x00\x01"
	storedHeader = 4096
)

// description is what entries are besides being of some points:
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

// storedHeaderOf is the header of a file with these entries of these points, as both lie in
// memory.
func storedHeaderOf(description, points, entries []byte) []byte {
	digest := sha256.New()
	for _, part := range [][]byte{points, entries} {
		_, _ = digest.Write(part) // which never fails
	}
	return digest.Sum(append(make([]byte, 0, storedHeader), description...))[:storedHeader]
}

// storedFile is the file of so many bytes of entries.
func storedFile(opts StoreOptions, description, points []byte, size int) *mapped.Kept {
	return &mapped.Kept{
		Path: opts.File, Size: storedHeader + int64(size), Warn: opts.Warn,
		Check: func(data []byte) error {
			if string(data[:storedHeader]) != string(storedHeaderOf(description, points, data[storedHeader:])) {
				return errors.New("damaged, or not of these points")
			}
			return nil
		},
	}
}
