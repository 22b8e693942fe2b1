package main

import "math/bits"

// digits is a signed representation n = Σ d_i·2^i, the least significant digit first. Each digit is
// zero, or odd and below 2^(width-1) in magnitude. At most one of any width consecutive digits is
// not zero.
type digits struct {
	d [257]int8
	n int // number of digits
}

// set sets z to the digits of n > 0, n < 2²⁵⁶ - 2^width.
func (z *digits) set(n *[4]uint64, width uint) {
	n0, n1, n2, n3 := n[0], n[1], n[2], n[3]
	z.n = 0
	for n0|n1|n2|n3 != 0 {
		var d int8
		if n0&1 == 1 {
			var c uint64
			if low := n0 & (1<<width - 1); low < 1<<(width-1) {
				d = int8(low)
				n0 -= low
			} else {
				d = int8(low) - 1<<width
				n0, c = bits.Add64(n0, 1<<width-low, 0)
				n1, c = bits.Add64(n1, 0, c)
				n2, c = bits.Add64(n2, 0, c)
				n3 += c
			}
		}
		z.d[z.n] = d
		z.n++
		n0 = n0>>1 | n1<<63
		n1 = n1>>1 | n2<<63
		n2 = n2>>1 | n3<<63
		n3 >>= 1
	}
}
