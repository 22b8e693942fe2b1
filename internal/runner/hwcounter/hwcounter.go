// Package hwcounter counts instructions and cycles of the calling thread with the processor's
// own counters, where the system lets it.
package hwcounter

import "errors"

// Counts are what was counted between Start and Stop.
type Counts struct {
	Instructions, Cycles uint64
}

// ErrUnavailable says that the processor's counters cannot be read here: another system
// than Linux, a virtual machine without them, or no permission.
var ErrUnavailable = errors.New("the processor's counters cannot be read here")

// Measure counts what work does on one thread. The error is an ErrUnavailable.
func Measure(work func()) (Counts, error) { return measure(work) }
