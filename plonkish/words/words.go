// Package words computes with words in circuits of package plonkish: range checks, bitwise AND and bitwise
// exclusive or. A word is an unsigned number with a fixed number of bits.
package words

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/plonkish"
)

// MaxBits is the maximum length of a word in bits. Every word of this length is less than the field's order.
const MaxBits = 252

// operation is a bitwise operation.
type operation struct {
	name    string
	compute func(x, y uint64) uint64
	gate    *plonkish.Gate
}

var (
	and = &operation{"and", func(x, y uint64) uint64 { return x & y }, plonkish.And()}
	xor = &operation{"xor", func(x, y uint64) uint64 { return x ^ y }, plonkish.Xor()}
)

// word is a value and the integer that it is.
type word struct {
	value plonkish.Var
	*big.Int
}

func read(b *plonkish.Builder, v plonkish.Var) word {
	e := b.Value(v)
	return word{v, e.BigInt(new(big.Int))}
}

// digit returns the given number of bits, from bit at on.
func (w *word) digit(at, bits int) (d uint64) {
	for i := at + bits - 1; i >= at; i-- {
		d = d<<1 | uint64(w.Bit(i))
	}
	return d
}

// result returns the word that the operation gives for the lowest bits of x and y.
func (o *operation) result(b *plonkish.Builder, x, y word, bits int) word {
	z := new(big.Int)
	for i := bits - 1; i >= 0; i-- {
		z.Lsh(z, 1).Or(z, new(big.Int).SetUint64(o.compute(x.digit(i, 1), y.digit(i, 1))))
	}
	var e fr.Element
	return word{b.Var(*e.SetBigInt(z)), z}
}

// rest returns the value without its lowest bits.
func (w *word) rest(b *plonkish.Builder, bits int) plonkish.Var {
	if bits == 0 {
		return w.value
	}
	var e fr.Element
	return b.Var(*e.SetBigInt(new(big.Int).Rsh(w.Int, uint(bits))))
}

func checkBits(bits, step int) error {
	if bits < step || bits > MaxBits || bits%step != 0 {
		return fmt.Errorf("%w: words of %d bits, accepted are multiples of %d up to %d", zkbench.ErrParams, bits, step, MaxBits)
	}
	return nil
}
