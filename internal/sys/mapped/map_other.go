//go:build !unix

package mapped

import "io"

// readFile reads n bytes into memory of its own, which is read-only where that can be.
func readFile(f io.Reader, n int) (data []byte, free func() error, err error) { return readHeap(f, n) }

// mapMemory is Memory.
func mapMemory(n int) ([]byte, func()) { return heapMemory(n) }
