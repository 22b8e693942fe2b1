package keccak

//go:generate go run ./internal/gen

// Kernel selects the implementation that hashes many messages at once. The zero Kernel, which is the
// default, selects the fastest implementation for this processor.
type Kernel struct{ name string }

// Names of kernels, from the narrowest to the widest.
const (
	portable = "portable"
	avx2     = "avx2"
	avx512   = "avx512"
)

// fastest is the kernel that the zero Kernel selects.
var fastest = Kernels()[len(vectorKernels())]

// chosen returns the kernel of a call that may name one. It never returns the zero Kernel.
func chosen(on []Kernel) Kernel {
	if len(on) > 0 && on[len(on)-1].name != "" {
		return on[len(on)-1]
	}
	return fastest
}

// String returns the kernel's name: portable, avx2 or avx512.
func (k Kernel) String() string { return chosen([]Kernel{k}).name }

// Kernels returns the kernels that this processor and build have, from pure Go to the fastest.
func Kernels() []Kernel {
	all := []Kernel{{portable}}
	for _, name := range vectorKernels() {
		all = append(all, Kernel{name})
	}
	return all
}
