package goldilocks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
)

// Kernel is an implementation of what works on vectors. The zero Kernel is the fastest that
// this processor has, and what runs where a call names none; another may follow the
// arguments of every function on vectors, of this package and of those above it, which
// measurements of kernels need. Kernels are comparable.
type Kernel struct{ name string }

// Names of kernels, the narrower first.
const (
	portable = "portable"
	avx2     = "avx2"
	avx512   = "avx512"
	sve      = "sve"
	sve2     = "sve2"
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

// Portable is the kernel that is Go alone.
func Portable() Kernel { return Kernel{portable} }

// String is the kernel's name: portable, avx2, avx512, sve or sve2.
func (k Kernel) String() string { return chosen([]Kernel{k}).name }

// Kernels are those that this processor and build have, the fastest last.
func Kernels() []Kernel {
	all := []Kernel{Portable()}
	for _, name := range vectorKernels() {
		all = append(all, Kernel{name})
	}
	return all
}

// KernelNamed returns the kernel of that name. One that the processor or the build lacks
// is a zkbench.ErrEnv.
func KernelNamed(name string) (Kernel, error) {
	all := Kernels()
	i := slices.IndexFunc(all, func(k Kernel) bool { return k.name == name })
	if i < 0 {
		accepted := strings.ReplaceAll(strings.Trim(fmt.Sprint(all), "[]"), " ", ", ")
		return Kernel{}, fmt.Errorf("%w: kernel: %q; accepted here: %s", zkbench.ErrEnv, name, accepted)
	}
	return all[i], nil
}
