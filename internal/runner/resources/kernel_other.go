//go:build !linux

package resources

func newKernel() kernel { return silent{} }

// silent is the kernel of a platform that does not report a process's memory.
type silent struct{}

func (silent) resident() resident { return resident{} }
func (silent) mark() uint64       { return 0 }
func (silent) resetMark() bool    { return false }
