//go:build !unix

package runner

// mapMemory returns n zero bytes, on the Go heap: collections see them here.
func mapMemory(n int) ([]byte, error) { return make([]byte, n), nil }

func unmapMemory([]byte) error { return nil }
