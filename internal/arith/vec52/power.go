package vec52

import "math/big"

// exponentWindow is the number of exponent bits that Power processes at once.
const exponentWindow = 4

// Exponent is a positive exponent, split into digits for Power.
type Exponent struct{ digits []uint8 } // most significant first, the first not 0

// NewExponent returns e as an Exponent. e must be positive.
func NewExponent(e *big.Int) Exponent {
	var x Exponent
	for at := (e.BitLen() + exponentWindow - 1) / exponentWindow * exponentWindow; at > 0; at -= exponentWindow {
		digit := uint8(0)
		for bit := range exponentWindow {
			digit = digit<<1 | uint8(e.Bit(at-1-bit))
		}
		x.digits = append(x.digits, digit)
	}
	return x
}

// PowerWords returns how many words of scratch memory Power needs for elements that have n words in all.
func PowerWords(n int) int { return n << exponentWindow }

// Power sets z = x^e, element by element. z must not be x, and scratch must have PowerWords(len(x)) words. If x is
// below 4p, z is below 2p.
func (f *Field) Power(z, x []uint64, e Exponent, scratch []uint64) {
	n := len(x)
	power := func(k uint8) []uint64 { return scratch[int(k)*n : int(k+1)*n] }
	copy(power(1), x)
	for k := uint8(2); k < 1<<exponentWindow; k++ {
		if k%2 == 0 {
			f.Square(power(k), power(k/2))
		} else {
			f.Mul(power(k), x, power(k-1))
		}
	}
	copy(z, power(e.digits[0]))
	for _, digit := range e.digits[1:] {
		for range exponentWindow {
			f.Square(z, z)
		}
		if digit != 0 {
			f.Mul(z, z, power(digit))
		}
	}
}
