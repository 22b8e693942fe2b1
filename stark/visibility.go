package stark

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
)

// Visibility says who can read what a prover puts into a trace, such as the messages that are hashed. There
// is no default: Check refuses the zero value.
type Visibility int

const (
	// Public means that the data is part of the statement.
	Public Visibility = iota + 1
	// Hidden means that the statement does not contain the data, and a proof reveals nothing about it. The
	// parameters must have ZeroKnowledge.
	Hidden
	// Exposed means that the statement does not contain the data, but it can be read from the proof.
	Exposed
)

// String returns the name of the visibility in lower case.
func (v Visibility) String() string {
	switch v {
	case Public:
		return "public"
	case Hidden:
		return "hidden"
	case Exposed:
		return "exposed"
	}
	return fmt.Sprintf("Visibility(%d)", int(v))
}

// Check returns zkbench.ErrParams if v is not among those accepted, or if v is Hidden and the parameters lack
// ZeroKnowledge.
func (v Visibility) Check(params Params, accepted ...Visibility) error {
	if !slices.Contains(accepted, v) {
		return fmt.Errorf("%w: %v, accepted are %v", zkbench.ErrParams, v, accepted)
	}
	if v == Hidden && !params.ZeroKnowledge {
		return fmt.Errorf("%w: hidden needs ZeroKnowledge, which parameters %q lack", zkbench.ErrParams, params.Name)
	}
	return nil
}
