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
