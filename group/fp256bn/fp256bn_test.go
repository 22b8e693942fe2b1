package fp256bn_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/IBM/mathlib/driver"
	"github.com/IBM/mathlib/driver/amcl"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/fp256bn"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// The rest of what a group promises is tested in package group.

// Both versions hash as mathlib's drivers do, and hold the same curve.
func TestAgainstDrivers(t *testing.T) {
	groups := []group.Group[fp256bn.Scalar, fp256bn.Point]{fp256bn.AMCL(), fp256bn.Miracl()}
	drivers := []driver.Curve{amcl.NewFp256bn(), amcl.NewFp256Miraclbn()}
	if a, b := groups[0].Domain(), groups[1].Domain(); a != "FP256BN-AMCL" || b != "FP256BN-MIRACL" {
		t.Errorf("domains %s, %s", a, b)
	}
	const domain = "zkbench/v1/test"
	var generators [][]byte
	for i, g := range groups {
		for n := range 20 {
			msg := bytes.Repeat([]byte{byte(n)}, n)
			p := must.Get(g.HashToPoint(domain, msg))(t)
			enc := g.AppendPoints(nil, p)
			golden.Equal(t, fmt.Sprintf("%s: hash of message %d, and the driver's", g.Name(), n), drivers[i].HashToG1WithDomain(msg, []byte(domain)).Compressed(), enc)
			generators = append(generators, enc)
			// The other version reads the point and multiplies it alike.
			var q [1]fp256bn.Point
			other := groups[1-i]
			if err := other.DecodePoints(q[:], enc, group.Subgroup); err != nil || q[0] != p {
				t.Errorf("%s does not read a point of %s: %v", other.Name(), g.Name(), err)
			}
			k := g.ScalarFromUint64(uint64(1000 + n))
			g.MulPoint(&p, &p, &k)
			if other.MulPoint(&q[0], &q[0], &k); q[0] != p {
				t.Errorf("%s and %s multiply differently", other.Name(), g.Name())
			}
		}
	}
	if bytes.Equal(generators[0], generators[20]) {
		t.Error("the two versions hash to the same points: they could share a Domain")
	}
	// The curve's published generator is (1, 2).
	gen := drivers[0].GenG1().Compressed()
	golden.Equal(t, "the driver's generator", "02"+fmt.Sprintf("%064x", 1), hex.EncodeToString(gen))
}
