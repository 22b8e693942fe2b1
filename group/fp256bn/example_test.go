package fp256bn_test

import (
	"fmt"
	"log"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/fp256bn"
)

// Both versions implement the same curve, each with its own generators.
func Example() {
	for _, g := range []group.Group[fp256bn.Scalar, fp256bn.Point]{fp256bn.AMCL(), fp256bn.Miracl()} {
		p, err := group.Generator(g, "example", 0)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %x\n", g.Name(), g.AppendPoints(nil, p))
	}
	// Output:
	// FP256BN_AMCL 024ebf2801c96ee277059264811ffa63e505426bfa57d0382d4f500fa6f01f717c
	// FP256BN_AMCL_MIRACL 03b50d730e168caa9b34d509d8ccbc5340a2c02d412b219b5b7e85cc5e9ca76879
}
