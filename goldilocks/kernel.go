package goldilocks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
)

// Kernel is an implementation of the vector operations that this processor can run. The
// zero Kernel is the portable one. Kernels are comparable.
type Kernel struct{ name string }

// Names of kernels, the narrower first.
const (
	portable = ""
	avx2     = "avx2"
	avx512   = "avx512"
	sve      = "sve"
	sve2     = "sve2"
)

// Portable is the kernel that is Go alone.
func Portable() Kernel { return Kernel{} }

// String is the kernel's name: portable, avx2, avx512, sve or sve2.
func (k Kernel) String() string {
	if k.name == portable {
		return "portable"
	}
	return k.name
}

// Kernels are those that this processor and build have, the fastest last.
func Kernels() []Kernel {
	all := []Kernel{Portable()}
	for _, name := range vectorKernels() {
		all = append(all, Kernel{name})
	}
	return all
}

// Best is the fastest kernel.
func Best() Kernel { all := Kernels(); return all[len(all)-1] }

// KernelNamed returns the kernel of that name. One that the processor or the build lacks
// is a *KernelError.
func KernelNamed(name string) (Kernel, error) {
	all := Kernels()
	i := slices.IndexFunc(all, func(k Kernel) bool { return k.String() == name })
	if i < 0 {
		return Kernel{}, &KernelError{Name: name, Has: all}
	}
	return all[i], nil
}

// KernelError is a kernel that this processor or build lacks. It is a zkbench.ErrEnv.
type KernelError struct {
	Name string
	Has  []Kernel
}

func (e *KernelError) Error() string {
	names := make([]string, len(e.Has))
	for i, k := range e.Has {
		names[i] = k.String()
	}
	return fmt.Sprintf("kernel: %q is not accepted; accepted here: %s", e.Name, strings.Join(names, ", "))
}

func (e *KernelError) Unwrap() error { return zkbench.ErrEnv }
