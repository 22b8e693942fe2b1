//go:build !unix

package runner

// mapMemory returns n zero bytes. On this platform they are on the Go heap, and so affect
// garbage collection.
func mapMemory(n int) ([]byte, error) { return make([]byte, n), nil }

func unmapMemory([]byte) error { return nil }
