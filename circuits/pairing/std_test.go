package pairing

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/test"

	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
)

// TestCheckRefuses: a point that is not the other's multiple by the constant.
func TestCheckRefuses(t *testing.T) {
	testsize.Full(t)
	t.Parallel()
	s := must.Get(NewStatement([Parties]fr.Element{fr.NewElement(3), fr.NewElement(4), fr.NewElement(5)}))(t)
	c := &stdCheck{}
	a := c.Assign(s).(*stdCheck)
	must.Do(t, test.IsSolved(c, a, ecc.BN254.ScalarField()), "a product that is one")
	s.P[0] = s.P[1]
	a.P[1] = c.Assign(s).(*stdCheck).P[1]
	must.NotDo(t, test.IsSolved(c, a, ecc.BN254.ScalarField()), must.ErrAny, "a product that is not one")
}
