// Package mapped gives out large memory that the garbage collector does not know, and copies files
// into it.
//
// It maps no files. If somebody cuts a mapped file, the next access behind its end raises SIGBUS. That
// ends the process, unless the goroutine has called runtime/debug.SetPanicOnFault. Goroutines of other
// modules read the points of a reference string, and do not call it. A copy has a second
// advantage: it does not change after its check if somebody writes to the file.
package mapped

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"github.com/zkbench/zkbench/internal/sys/memory"
)

// Read returns a read-only copy of a file of size bytes, at an address that is aligned for 64-bit words.
// The caller does not use data after free. Read returns an error if the file has another size, and a
// *zkbench.LimitError if it does not fit in memory.
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

// full fills data. If the reader ends before that, the error has both lengths.
func full(f io.Reader, data []byte) error {
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("ends after %d bytes, want %d: %w", n, len(data), io.ErrUnexpectedEOF)
	}
	return err
}

// Memory returns n zero bytes that the garbage collector does not know, so that large memory for a
// while does not make the heap grow. They are aligned for 64-bit words. The caller does not use them
// after free.
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

// readHeap does what readFile does, into memory of the heap.
func readHeap(f io.Reader, n int) ([]byte, func() error, error) {
	data, _ := heapMemory(n)
	if err := full(f, data); err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}
