package mapped

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/zkbench/zkbench/internal/sys/atomicfile"
)

// Kept is a file that keeps what can be made again.
type Kept struct {
	Path  string                  // "": nothing is kept
	Size  int64                   // of the file, in bytes
	Check func(data []byte) error // whether that is what is wanted, as a whole
	Warn  func(reason string)     // hears why the file is not used, or not kept; may be nil
}

// Read returns a copy of the file as the function Read does. It returns nil if there is no file, or if
// the file does not pass Check.
func (k *Kept) Read() (data []byte, free func() error) {
	if k.Path == "" {
		return nil, nil
	}
	data, free, err := k.load()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.warn("%s is made anew: %v", k.Path, err)
	}
	return data, free
}

// Write writes the file, which appears as a whole or not at all, and returns what Read returns. It returns
// nil, too, if it cannot write the file.
func (k *Kept) Write(parts ...[]byte) (data []byte, free func() error) {
	if k.Path == "" {
		return nil, nil
	}
	if err := atomicfile.Write(k.Path, parts...); err != nil {
		k.warn("%s is not kept: %v", k.Path, err)
		return nil, nil
	}
	data, free, err := k.load()
	if err != nil {
		k.warn("%s is not used: %v", k.Path, err)
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
