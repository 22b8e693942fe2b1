package integer

import (
	"fmt"

	"github.com/zkbench/zkbench"
)

// Layout is how a table of multiples of fixed points covers the digits of a
// scalar: of every point it holds, for each position p, the multiples
// 1..2^(Window-1) of 2^(Window·Spacing·p) times the point. Digit w is looked up
// at position w/Spacing and belongs to the partial sum w%Spacing; Horner's rule
// over the partial sums costs (Spacing-1)·Window doublings for a whole sum.
type Layout struct {
	Window, Spacing   int // width of a digit in bits; digits that share a position
	Digits, Positions int
}

// NewLayout returns the layout for scalars of bits bits, or an ErrParams.
func NewLayout(bits, window, spacing int) (Layout, error) {
	if window < 2 || window > 12 {
		return Layout{}, fmt.Errorf("%w: table window %d, accepted are 2 to 12", zkbench.ErrParams, window)
	}
	digits := Digits(bits, window)
	if spacing < 1 || spacing > digits {
		return Layout{}, fmt.Errorf("%w: table spacing %d, accepted are 1 to %d", zkbench.ErrParams, spacing, digits)
	}
	return Layout{window, spacing, digits, (digits + spacing - 1) / spacing}, nil
}
