package vec52

import "math/big"

// exponentWindow is the width of the digits that Power takes at once.
const exponentWindow = 4

// Exponent is a positive number, as Power reads it.
type Exponent struct{ digits []uint8 } // most significant first, the first not 0

// NewExponent is e, which is positive.
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

// PowerWords is the scratch of Power, in words, for elements of so many words.
func PowerWords(n int) int { return n << exponentWindow }

// Power sets z to x^e, block by block; z is not x. Of x below 4p it makes less than 2p.
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
