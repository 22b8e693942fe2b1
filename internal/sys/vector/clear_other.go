//go:build !amd64

package vector

// Clear does nothing on processors other than amd64.
func Clear() {}
