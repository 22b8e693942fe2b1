//go:build unix

package runner

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/zkbench/zkbench"
)

// mapMemory returns n zero bytes outside the Go heap. A page is not resident until it is
// touched.
func mapMemory(n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("%w: arena of %d bytes: %w", zkbench.ErrEnv, n, err)
	}
	return mem, nil
}

func unmapMemory(mem []byte) error {
	if mem == nil {
		return nil
	}
	return unix.Munmap(mem)
}
