//go:build unix

package srs

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the n bytes of a file read-only.
func mapFile(f *os.File, n int) (data []byte, unmap func() error, err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return readFile(f, n) // a file system without mappings
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
