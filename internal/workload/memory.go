package workload

// Memory is the maximum memory of a case, in bytes, beyond what every process takes.
type Memory struct {
	Base      uint64 // for the set-up
	Input     uint64 // for each input; inputs are built before the window, and kept
	Operation uint64 // for each operation or check in flight, with its output
}

// Bytes returns the memory of a case with the given numbers of inputs and of operations in flight. If inputs is 0,
// each operation builds its own input.
func (m Memory) Bytes(inputs, workers int) uint64 {
	return m.Base + uint64(max(inputs, workers))*m.Input + uint64(workers)*m.Operation
}

// merge returns the memory of two cases that share a load: each input and operation belongs to one of them.
func (m Memory) merge(other Memory) Memory {
	return Memory{m.Base + other.Base, max(m.Input, other.Input), max(m.Operation, other.Operation)}
}
