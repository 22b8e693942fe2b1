// Package hwcounter counts the instructions and cycles of a thread with the processor's
// hardware counters, if the system permits it.
package hwcounter

import "errors"

// Counts holds the instructions and cycles that Measure counted in user mode.
type Counts struct {
	Instructions, Cycles uint64
}

// ErrUnavailable says that the processor's counters cannot be read: the system is not Linux,
// a virtual machine does not have them, or permission is missing.
var ErrUnavailable = errors.New("the processor's counters cannot be read here")

// Measure calls the function work and counts the instructions and cycles of its thread.
// Goroutines that the function starts are not counted. Measure returns ErrUnavailable if the
// counters cannot be read.
func Measure(work func()) (Counts, error) { return measure(work) }
