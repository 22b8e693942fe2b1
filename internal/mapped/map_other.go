//go:build !unix

package mapped

import "os"

// mapFile reads the n bytes of a file.
func mapFile(f *os.File, n int) (data []byte, closing func() error, err error) { return readFile(f, n) }

// mapMemory is Memory.
func mapMemory(n int) ([]byte, func()) { return heapMemory(n) }
