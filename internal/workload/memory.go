package workload

// Memory is what a case takes in bytes, at most, beside what every process takes.
type Memory struct {
	Base      uint64 // of the set-up
	Input     uint64 // of an input; inputs are built before the window, and kept
	Operation uint64 // of an operation or a check in flight, with its output
}

// Of returns the bytes of a case with so many inputs and so many operations in flight. Without inputs each
// operation builds its own.
func (m Memory) Of(inputs, workers int) uint64 {
	return m.Base + uint64(max(inputs, workers))*m.Input + uint64(workers)*m.Operation
}

// with returns the memory of two cases that share a load: an input or operation is of one or the other.
func (m Memory) with(other Memory) Memory {
	return Memory{m.Base + other.Base, max(m.Input, other.Input), max(m.Operation, other.Operation)}
}
