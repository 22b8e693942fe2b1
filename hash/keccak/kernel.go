package keccak

//go:generate go run ./internal/gen

// Kernel is an implementation of what hashes many messages at once. The zero Kernel is the fastest
// that this processor has, and what runs where a call names none.
type Kernel struct{ name string }

// Names of kernels, the narrower first.
const (
	portable = "portable"
	avx2     = "avx2"
	avx512   = "avx512"
)

// fastest is what the zero Kernel stands for.
var fastest = Kernels()[len(vectorKernels())]

// chosen is the kernel of a call that may name one: never the zero Kernel.
func chosen(on []Kernel) Kernel {
	if len(on) > 0 && on[len(on)-1].name != "" {
		return on[len(on)-1]
	}
	return fastest
}

// String is the kernel's name: portable, avx2 or avx512.
func (k Kernel) String() string { return chosen([]Kernel{k}).name }

// Kernels are those that this processor and build have, from Go alone to the fastest.
func Kernels() []Kernel {
	all := []Kernel{{portable}}
	for _, name := range vectorKernels() {
		all = append(all, Kernel{name})
	}
	return all
}
