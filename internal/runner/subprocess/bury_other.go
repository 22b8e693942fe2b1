//go:build !linux

package subprocess

// Bury does nothing, because this platform has no way to find the processes that a killed process
// has left behind.
func Bury(int, string) {}
