// Package mapped allocates large memory outside the garbage collector's heap, and copies files into it.
//
// It does not map files. If somebody truncates a mapped file, the next access beyond its end raises SIGBUS. This
// signal ends the process unless the goroutine has called runtime/debug.SetPanicOnFault. Other modules read the
// points of a reference string in goroutines that do not call this function. A copy has a second advantage: it
// does not change after it was checked, even if somebody writes to the file.
package mapped

import (
	"errors"
	"fmt"
	"io"
	"os"
	"unsafe"

	"github.com/zkbench/zkbench/internal/sys/memory"
)

// Read returns a read-only copy of the file at path, aligned for 64-bit words. Do not use data after calling free.
// Read returns an error if the file's size in bytes is not equal to the parameter size, and a *zkbench.LimitError
// if the file does not fit in memory.
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

// full fills data. If the reader ends too early, the error contains both lengths.
func full(f io.Reader, data []byte) error {
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("ends after %d bytes, want %d: %w", n, len(data), io.ErrUnexpectedEOF)
	}
	return err
}

// Memory returns n zero bytes outside the garbage collector's heap, so that a large temporary buffer does not
// make the heap grow. They are aligned for 64-bit words. Do not use them after calling free.
func Memory(n int) (data []byte, free func()) { return mapMemory(n) }

// heapMemory implements Memory with the heap, for systems without mapped memory.
func heapMemory(n int) ([]byte, func()) {
	return Bytes(make([]uint64, (n+7)/8))[:n], func() {}
}

// Bytes returns the memory that holds the given values, not a copy of it. T must not contain padding.
func Bytes[T any](values []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(v)))
}

// Values returns the values of type T in data, not a copy. It is the inverse of Bytes. The bytes must be aligned
// for T.
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
