// Package mapped has large memory that the garbage collector knows nothing of, and copies files into it.
//
// No file is mapped: if a mapped file is cut, an access behind its end is a SIGBUS, which ends the
// process on any goroutine that has not asked for a panic (runtime/debug.SetPanicOnFault). Points of a
// reference string are read by goroutines of other modules, which have not. Nor does a copy
// change after its check if somebody writes to the file.
package mapped

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"github.com/zkbench/zkbench/internal/memory"
)

// Read returns a read-only copy of the file's bytes, which are to be so many, at an address that is
// aligned for 64-bit words. It is not used after free. A file that does not fit in memory is a
// *zkbench.LimitError.
func Read(path string, size int64) (data []byte, free func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() != size {
		return nil, nil, fmt.Errorf("%d bytes, want %d", info.Size(), size)
	}
	if err := memory.FitsOffHeap("the file", uint64(size)); err != nil {
		return nil, nil, err
	}
	return readFile(f, int(size))
}

// full reads all of data. What a file lacks by now is an error that says so.
func full(f io.Reader, data []byte) error {
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("ends after %d bytes, want %d: %w", n, len(data), io.ErrUnexpectedEOF)
	}
	return err
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

// readHeap is readFile where there is no other memory.
func readHeap(f io.Reader, n int) ([]byte, func() error, error) {
	data, _ := heapMemory(n)
	if err := full(f, data); err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}
