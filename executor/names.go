package executor

import (
	"fmt"
	"strings"

	"github.com/zkbench/zkbench"
)

const (
	serialName    = "serial"
	unboundedName = "unbounded"
	poolName      = "pool"
)

// Names returns the names that ByName accepts, in the order of the
// documentation.
func Names() []string { return []string{serialName, unboundedName, poolName} }

// ByName returns the executor that users call name. Another name is an
// ErrParams that lists the accepted ones.
func ByName(name string) (Executor, error) {
	switch name {
	case serialName:
		return Serial(), nil
	case unboundedName:
		return Unbounded(), nil
	case poolName:
		return Pool(), nil
	}
	return nil, fmt.Errorf("%w: executor %q, accepted are %s", zkbench.ErrParams, name, strings.Join(Names(), ", "))
}
