//go:build !unix

package srs

import "os"

// mapFile reads the n bytes of a file.
func mapFile(f *os.File, n int) (data []byte, unmap func() error, err error) { return readFile(f, n) }
