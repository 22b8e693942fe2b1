//go:build unix

package mapped

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// readFile reads n bytes into memory of its own, which is read-only where that can be.
func readFile(f io.Reader, n int) (data []byte, free func() error, err error) {
	data, err = anonymous(n)
	if err != nil {
		return readHeap(f, n) // which says what is wrong, or does
	}
	err = full(f, data)
	if err == nil {
		err = unix.Mprotect(data, unix.PROT_READ)
	}
	if err != nil {
		return nil, nil, errors.Join(err, unix.Munmap(data))
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// mapMemory is Memory.
func mapMemory(n int) ([]byte, func()) {
	data, err := anonymous(n)
	if err != nil {
		return heapMemory(n) // which says what is wrong, or does
	}
	return data, func() { _ = unix.Munmap(data) } // of what was mapped, and so no error
}

// anonymous maps n zero bytes of no file. It returns an error for n = 0.
func anonymous(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}
