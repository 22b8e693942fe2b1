package group

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/arith/vec52"
)

// Kernel selects the code with which a group adds many points. The zero Kernel selects the fastest
// that this processor and build have. To measure another implementation, pass its Kernel to BN254
// or BLS12381. Results do not depend on the kernel.
type Kernel struct{ name string }

var (
	portable = Kernel{"portable"}
	ifma     = Kernel{vec52.IFMA.String()}
	twin     = Kernel{vec52.Portable.String()} // of ifma, for tests
)

// String returns the kernel's name: portable or avx512ifma.
func (k Kernel) String() string { return chosen([]Kernel{k}).name }

// Kernels returns the kernels that this processor and build have, the fastest last.
func Kernels() []Kernel {
	if slices.Contains(vec52.Kernels(), vec52.IFMA) {
		return []Kernel{portable, ifma}
	}
	return []Kernel{portable}
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

func chosen(on []Kernel) Kernel {
	if len(on) > 0 && on[len(on)-1].name != "" {
		return on[len(on)-1]
	}
	all := Kernels()
	return all[len(all)-1]
}

// lanes returns the kernel for rows of SIMD vectors (package lanes), if k is one.
func (k Kernel) lanes() (l vec52.Kernel, ok bool) {
	switch k {
	case ifma:
		return vec52.IFMA, true
	case twin:
		return vec52.Portable, true
	}
	return l, false
}

// onEach returns a function that makes the group at most once for each kernel that is asked for.
func onEach[G any](make func(Kernel) G) func(on []Kernel) G {
	made := map[Kernel]func() G{}
	for _, k := range []Kernel{portable, ifma, twin} {
		made[k] = sync.OnceValue(func() G { return make(k) })
	}
	return func(on []Kernel) G { return made[chosen(on)]() }
}
