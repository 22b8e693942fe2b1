package executor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
)

// names in the order of the documentation; ByName and Names read them.
var names = [...]string{"serial", "unbounded", "pool"}

// Names returns the names that ByName accepts.
func Names() []string { return slices.Clone(names[:]) }

// ByName returns the executor that users call name. Another name is an
// ErrParams that lists the accepted ones.
func ByName(name string) (Executor, error) {
	switch name {
	case names[0]:
		return Serial(), nil
	case names[1]:
		return Unbounded(), nil
	case names[2]:
		return Pool(), nil
	}
	return nil, fmt.Errorf("%w: executor %q, accepted are %s", zkbench.ErrParams, name, strings.Join(names[:], ", "))
}
