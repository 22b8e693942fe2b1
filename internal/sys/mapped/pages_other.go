//go:build unix && !linux

package mapped

// preferLargePages does nothing: other systems choose the size of pages by themselves.
func preferLargePages([]byte) {}
