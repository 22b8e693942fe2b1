package pedersen

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/twistededwards"
	"github.com/consensys/gnark-crypto/ecc/grumpkin"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/internal/gate"
	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// window is one window of a form: Sum is From and the point of the digit Digit.
type window struct {
	form      Form
	Digit     frontend.Variable
	From, Sum [2]frontend.Variable `gnark:",public"`
}

func (c *window) Define(api frontend.API) (err error) {
	sum := point{c.From[0], c.From[1]}
	switch c.form {
	case Edwards:
		var bits []frontend.Variable
		if bits, err = gate.AssertBits(api, c.Digit, edwardsWidth); err != nil {
			return err
		}
		base := pedersen.EdwardsGenerator(0)
		x, y := lookUpEdwards(api, bits[0], bits[1], &base)
		sum = sum.addEdwards(api, x, y)
	case Grumpkin:
		var digits []frontend.Variable
		if digits, err = api.NewHint(SignedDigits, 3, c.Digit); err != nil {
			return err
		}
		x, y, d := signedWindow(api, [3]frontend.Variable(digits), pedersen.OddMultiples(0, plainWidth, 0, 4))
		api.AssertIsEqual(accumulate(api, 0, d, big.NewInt(1)), c.Digit)
		sum = sum.add(api, x, y)
	case Tables:
		l := &lookups{tables: [][]row{tableOf(0, 0)}}
		var p []frontend.Variable
		if p, err = api.NewHint(Points, 2, 0, c.Digit); err != nil {
			return err
		}
		l.lookUp(0, c.Digit, p[0], p[1])
		api.Compiler().Defer(l.prove)
		sum = sum.add(api, gate.Offset{V: p[0], K: new(big.Int)}, p[1])
	}
	api.AssertIsEqual(sum.x, c.Sum[0])
	api.AssertIsEqual(sum.y, c.Sum[1])
	return nil
}

// assignWindow assigns a digit, with G_len or the second generator to start from.
func assignWindow(form Form, digit int64) *window {
	a := &window{Digit: digit}
	if form == Edwards {
		from, p := pedersen.EdwardsGenerator(1), pedersen.EdwardsGenerator(0)
		p.ScalarMultiplication(&p, big.NewInt(digit))
		var sum twistededwards.PointAffine
		sum.Add(&from, &p)
		a.From, a.Sum = [2]frontend.Variable{from.X, from.Y}, [2]frontend.Variable{sum.X, sum.Y}
		return a
	}
	width := plainWidth
	if form == Tables {
		width = tableWidth
	}
	from, p := pedersen.Offset(), pedersen.Half(0)
	p.ScalarMultiplication(&p, big.NewInt(2*digit+1-1<<width))
	var sum grumpkin.G1Affine
	sum.Add(&from, &p)
	a.From, a.Sum = [2]frontend.Variable{fr.Element(from.X), fr.Element(from.Y)}, [2]frontend.Variable{fr.Element(sum.X), fr.Element(sum.Y)}
	return a
}

// TestWindow: a window of each form adds its digit's point and no other, for no digit but
// its own, and leaves nothing free.
func TestWindow(t *testing.T) {
	for form, digits := range map[Form]int64{Edwards: 1 << edwardsWidth, Grumpkin: 1 << plainWidth, Tables: entries} {
		t.Run(fmt.Sprintf("form=%s", form), func(t *testing.T) {
			t.Parallel()
			circuit := &window{form: form}
			circuittest.NothingFree(t, circuit, assignWindow(form, digits-2), Hints(), 1)
			for name, builder := range circuittest.Builders() {
				system := circuittest.Compile(t, builder, circuit)
				for digit := int64(0); digit <= digits; digit += max(digits/8, 1) {
					a := assignWindow(form, digit)
					err := circuittest.Solves(t, system, a, Hints())
					golden.Equal(t, fmt.Sprintf("%s: digit %d of %d is taken (%v)", name, digit, digits, err), digit < digits, err == nil)
					a.Digit = (digit + 1) % digits
					must.Fail(t, circuittest.Solves(t, system, a, Hints()), must.ErrAny, "%s: the point of digit %d for %d", name, digit, a.Digit)
				}
			}
		})
	}
}
