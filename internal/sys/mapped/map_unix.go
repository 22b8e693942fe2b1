//go:build unix

package mapped

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// readFile reads n bytes into newly mapped memory, and then makes it read-only.
func readFile(f io.Reader, n int) (data []byte, free func() error, err error) {
	data, err = anonymous(n)
	if err != nil {
		return readHeap(f, n)
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

// mapMemory implements Memory.
func mapMemory(n int) ([]byte, func()) {
	data, err := anonymous(n)
	if err != nil {
		return heapMemory(n)
	}
	return data, func() { _ = unix.Munmap(data) } // does not fail: data was mapped
}

// large is the number of bytes from which memory should have large pages. What they round up is little then.
const large = 4 << 20

// anonymous maps n zero bytes without a file. It returns an error for n = 0.
func anonymous(n int) ([]byte, error) {
	data, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err == nil && n >= large {
		preferLargePages(data)
	}
	return data, err
}
