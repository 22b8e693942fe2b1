// Package mapped opens files that are read as memory, and has memory that is no file's.
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

// Memory is n bytes, 0 all, of which the garbage collector knows nothing: large memory for a while,
// that is not to make the heap grow. It is aligned for 64-bit words, and not used after free.
func Memory(n int) (data []byte, free func()) { return mapMemory(n) }

// heapMemory is mapMemory where there is no other.
func heapMemory(n int) ([]byte, func()) {
	return Bytes(make([]uint64, (n+7)/8))[:n], func() {}
}

// Bytes is the memory of values without padding, and Values what such memory holds.
func Bytes[T any](values []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(v)))
}

func Values[T any](data []byte) []T {
	var v T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(v)))
}

// readFile is mapFile where files are not mapped.
func readFile(f io.Reader, n int) ([]byte, func() error, error) {
	data, _ := heapMemory(n)
	_, err := io.ReadFull(f, data)
	return data, func() error { return nil }, err
}
