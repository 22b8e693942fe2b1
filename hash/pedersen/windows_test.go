package pedersen

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// TestWindows: sums by windows of each width are the hash, of scalars at both ends.
func TestWindows(t *testing.T) {
	t.Parallel()
	scalars := []*big.Int{new(big.Int), new(big.Int).Rsh(fr.Modulus(), 1), new(big.Int).Sub(fr.Modulus(), big.NewInt(1))}
	for _, width := range []int{1, 3, 7} {
		t.Run(fmt.Sprintf("width=%d", width), func(t *testing.T) {
			t.Parallel()
			for k, a := range scalars {
				both := [Inputs]*big.Int{a, scalars[(k+1)%len(scalars)]}
				sum := Start(width)
				for i, scalar := range both {
					for j := range Windows(width) {
						e := new(big.Int).Rsh(scalar, uint(width*j)).Uint64() & (1<<width - 1)
						d := int(2*e) - (1<<width - 1)
						odd := OddMultiples(i, width, j, 1<<(width-1))
						p := odd[(max(d, -d)-1)/2]
						if d < 0 {
							p.Neg(&p)
						}
						sum.Add(&sum, &p)
					}
				}
				var x, y fr.Element
				x.SetBigInt(both[0])
				y.SetBigInt(both[1])
				if want := Hash(&x, &y); !want.Equal((*fr.Element)(&sum.X)) {
					t.Errorf("%v: %v, the hash is %v", both, sum.X, want)
				}
			}
		})
	}
}
