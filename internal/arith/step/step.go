// Package step says which arithmetic a machine does on vectors in numbered registers. It is what package stark
// and the fields' kernels share.
package step

// Op is an operation on two vectors, element by element.
type Op uint32

// Operations. Kernels compare with these numbers.
const (
	Add Op = iota
	Sub
	Mul
	Xor    // x + y - 2 x y: the exclusive or of bits
	AndNot // x (1 - y): x and not y, for bits
)

// Ops is the number of operations.
const Ops = AndNot + 1

// Step is an operation whose operands and result are in registers. The result may replace an operand. Kernels
// read steps as they are in memory.
type Step struct {
	Op        Op
	Dst, X, Y uint32
}
