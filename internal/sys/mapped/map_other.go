//go:build !unix

package mapped

import "io"

// readFile reads n bytes into memory of the heap.
func readFile(f io.Reader, n int) (data []byte, free func() error, err error) { return readHeap(f, n) }

// mapMemory implements Memory.
func mapMemory(n int) ([]byte, func()) { return heapMemory(n) }
