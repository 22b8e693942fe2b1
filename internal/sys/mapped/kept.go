package mapped

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/zkbench/zkbench/internal/sys/atomicfile"
)

// Kept is a cache file. If it is lost, its contents can be computed again.
type Kept struct {
	Path  string                  // "": no cache
	Size  int64                   // of the file, in bytes
	Check func(data []byte) error // returns an error if data, the whole file, is not the expected contents
	Warn  func(reason string)     // is called with the reason if the file cannot be used or written; may be nil
}

// Read returns a read-only copy of the file, like the function Read of this package. It returns nil if there is
// no file or if the file does not pass Check.
func (k *Kept) Read() (data []byte, free func() error) {
	if k.Path == "" {
		return nil, nil
	}
	data, free, err := k.load()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.warn("%s cannot be used and is replaced: %v", k.Path, err)
	}
	return data, free
}

// Write replaces the file atomically with the concatenation of parts and returns what Read returns for the new
// file. If Write cannot write the file, it returns nil.
func (k *Kept) Write(parts ...[]byte) (data []byte, free func() error) {
	if k.Path == "" {
		return nil, nil
	}
	if err := atomicfile.Write(k.Path, parts...); err != nil {
		k.warn("%s cannot be written: %v", k.Path, err)
		return nil, nil
	}
	data, free, err := k.load()
	if err != nil {
		k.warn("%s cannot be used: %v", k.Path, err)
	}
	return data, free
}

func (k *Kept) load() (data []byte, free func() error, err error) {
	if data, free, err = Read(k.Path, k.Size); err != nil {
		return nil, nil, err
	}
	if err := k.Check(data); err != nil {
		return nil, nil, errors.Join(err, free())
	}
	return data, free, nil
}

func (k *Kept) warn(format string, args ...any) {
	if k.Warn != nil {
		k.Warn(fmt.Sprintf(format, args...))
	}
}
