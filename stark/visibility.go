package stark

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
)

// Visibility says who can read what a prover puts into a trace, such as the messages that are hashed. A
// maker of a system must choose: the zero value is refused.
type Visibility int

const (
	// Public is part of the statement.
	Public Visibility = iota + 1
	// Hidden is not in the statement, and a proof tells nothing about it. The parameters must have zero knowledge.
	Hidden
	// Exposed is not in the statement, but can be read from the proof.
	Exposed
)

// String is the name.
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

// Check returns a zkbench.ErrParams if a visibility is none of those accepted, and for Hidden with parameters
// that have no zero knowledge.
func (v Visibility) Check(params Params, accepted ...Visibility) error {
	if !slices.Contains(accepted, v) {
		return fmt.Errorf("%w: %v, accepted are %v", zkbench.ErrParams, v, accepted)
	}
	if v == Hidden && !params.ZeroKnowledge {
		return fmt.Errorf("%w: hidden needs ZeroKnowledge, which parameters %q lack", zkbench.ErrParams, params.Name)
	}
	return nil
}
