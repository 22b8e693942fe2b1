// Package mapped opens files that are read as memory.
package mapped

import (
	"fmt"
	"io"
	"os"
	"unsafe"
)

// Open returns the bytes of the file, which are to be so many, private and read-only; at an
// address that is aligned for 64-bit words. They are mapped where that can be, and are not
// used after close.
func Open(path string, size int64) (data []byte, closing func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // a mapping stays
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() != size {
		return nil, nil, fmt.Errorf("%d bytes, want %d", info.Size(), size)
	}
	return mapFile(f, int(size))
}

// readFile is mapFile where files are not mapped.
func readFile(f io.Reader, n int) ([]byte, func() error, error) {
	words := make([]uint64, (n+7)/8)
	data := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
	_, err := io.ReadFull(f, data)
	return data, func() error { return nil }, err
}
