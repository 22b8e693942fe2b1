//go:build unix

package mapped

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the n bytes of a file.
func mapFile(f *os.File, n int) (data []byte, closing func() error, err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return readFile(f, n) // a file system without mappings, or an empty file
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// mapMemory is Memory.
func mapMemory(n int) ([]byte, func()) {
	data, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return heapMemory(n) // which says what is wrong, or does
	}
	return data, func() { _ = unix.Munmap(data) } // of what was mapped, and so no error
}
