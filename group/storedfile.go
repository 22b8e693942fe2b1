package group

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"github.com/zkbench/zkbench/internal/atomicfile"
	"github.com/zkbench/zkbench/internal/mapped"
)

// storedFile is a file of multiples: a header, and the entries as they lie in memory.
//
//	header = what they are (description), SHA-256 of the points and the entries
//
// Numbers are little-endian, as the limbs are on all platforms of this package; the header
// takes storedHeader bytes, so that entries begin at a page.
type storedFile struct {
	opts   StoreOptions
	form   []byte // description of the multiples
	points []byte // whose multiples they are, as they lie in memory
	size   int    // bytes of the entries
}

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

// header is that of the file with these entries.
func (f *storedFile) header(entries []byte) []byte {
	digest := sha256.New()
	for _, part := range [][]byte{f.points, entries} {
		_, _ = digest.Write(part) // which never fails
	}
	return digest.Sum(append(make([]byte, 0, storedHeader), f.form...))[:storedHeader]
}

// open returns the entries of the file, or nil where it cannot be used.
func (f *storedFile) open() (entries []byte, closing func() error) {
	if f.opts.File == "" {
		return nil, nil
	}
	entries, closing, err := f.load()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.warn("%s is made anew: %v", f.opts.File, err)
	}
	return entries, closing
}

// write writes the file, and opens it.
func (f *storedFile) write(made []byte) (entries []byte, closing func() error) {
	if f.opts.File == "" {
		return nil, nil
	}
	if err := atomicfile.Write(f.opts.File, f.header(made), made); err != nil {
		f.warn("%s is not kept: %v", f.opts.File, err)
		return nil, nil
	}
	entries, closing, err := f.load()
	if err != nil {
		f.warn("%s is not used: %v", f.opts.File, err)
	}
	return entries, closing
}

func (f *storedFile) load() (entries []byte, closing func() error, err error) {
	data, closing, err := mapped.Open(f.opts.File, storedHeader+int64(f.size))
	if err != nil {
		return nil, nil, err
	}
	if entries = data[storedHeader:]; string(data[:storedHeader]) != string(f.header(entries)) {
		return nil, nil, errors.Join(errors.New("damaged, or not of these points"), closing())
	}
	return entries, closing, nil
}

func (f *storedFile) warn(format string, args ...any) {
	if f.opts.Warn != nil {
		f.opts.Warn(fmt.Sprintf(format, args...))
	}
}
