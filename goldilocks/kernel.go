package goldilocks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
)

// Kernel selects an implementation of the operations on vectors. The zero Kernel selects the
// fastest implementation that this processor has. A call without a Kernel uses that
// implementation too. To measure another implementation, pass its Kernel as the last argument of
// a function on vectors, here or in the packages that use this one. Kernels are comparable.
type Kernel struct{ name string }

// Names of kernels, narrower ones first.
const (
	portable = "portable"
	avx2     = "avx2"
	avx512   = "avx512"
	sve      = "sve"
	sve2     = "sve2"
)

// fastest is the kernel that the zero Kernel selects.
var fastest = Kernels()[len(vectorKernels())]

// chosen returns the kernel for a call that may name one. It never returns the zero Kernel.
func chosen(on []Kernel) Kernel {
	if len(on) > 0 && on[len(on)-1].name != "" {
		return on[len(on)-1]
	}
	return fastest
}

// Portable returns the kernel that is written in Go alone.
func Portable() Kernel { return Kernel{portable} }

// String returns the kernel's name: portable, avx2, avx512, sve or sve2.
func (k Kernel) String() string { return chosen([]Kernel{k}).name }

// Kernels returns the kernels that this processor and build have, the fastest last.
func Kernels() []Kernel {
	all := []Kernel{Portable()}
	for _, name := range vectorKernels() {
		all = append(all, Kernel{name})
	}
	return all
}

// KernelNamed returns the kernel with the given name. It returns zkbench.ErrEnv if this processor
// or build lacks the kernel.
func KernelNamed(name string) (Kernel, error) {
	all := Kernels()
	i := slices.IndexFunc(all, func(k Kernel) bool { return k.name == name })
	if i < 0 {
		accepted := strings.ReplaceAll(strings.Trim(fmt.Sprint(all), "[]"), " ", ", ")
		return Kernel{}, fmt.Errorf("%w: kernel: %q; accepted here: %s", zkbench.ErrEnv, name, accepted)
	}
	return all[i], nil
}
