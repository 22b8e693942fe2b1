package group

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/arith/vec52"
)

// Kernel is how a group adds many points. The zero Kernel is the fastest that
// this processor and build have; another may follow where a group is named,
// which measurements of kernels need. Results do not depend on it.
type Kernel struct{ name string }

var (
	portable = Kernel{"portable"}
	ifma     = Kernel{vec52.IFMA.String()}
	twin     = Kernel{vec52.Portable.String()} // of ifma, for tests
)

// String is the kernel's name: portable or avx512ifma.
func (k Kernel) String() string { return chosen([]Kernel{k}).name }

// Kernels are those that this processor and build have, the fastest last.
func Kernels() []Kernel {
	if slices.Contains(vec52.Kernels(), vec52.IFMA) {
		return []Kernel{portable, ifma}
	}
	return []Kernel{portable}
}

// KernelNamed returns the kernel of that name. One that the processor or the
// build lacks is a zkbench.ErrEnv.
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

// lanes is the kernel of rows in lanes, if k is of that kind.
func (k Kernel) lanes() (l vec52.Kernel, ok bool) {
	switch k {
	case ifma:
		return vec52.IFMA, true
	case twin:
		return vec52.Portable, true
	}
	return l, false
}

// onEach makes a group once for every kernel that is asked for.
func onEach[G any](make func(Kernel) G) func(on []Kernel) G {
	made := map[Kernel]func() G{}
	for _, k := range []Kernel{portable, ifma, twin} {
		made[k] = sync.OnceValue(func() G { return make(k) })
	}
	return func(on []Kernel) G { return made[chosen(on)]() }
}
