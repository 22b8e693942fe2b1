package group

// recode writes the signed digits of a magnitude k < 2^bits: k = Σ digit_w·2^(w·c)
// with -2^(c-1) < digit_w <= 2^(c-1), least significant first. dst has
// windows(bits, c) digits, enough for the last carry.
func recode(dst []int16, k *limbs, c int) {
	mask, half := uint64(1)<<c-1, uint64(1)<<(c-1)
	var carry uint64
	for w := range dst {
		d := window(k, w*c)&mask + carry
		// No branch: the digits are random and would be mispredicted. d <= 2^c,
		// so half-d wraps exactly for d > half, and d - 2^c fits.
		carry = (half - d) >> 63
		dst[w] = int16(int64(d) - int64(carry<<c))
	}
}

// window returns the bits of k from position pos on, at least 16 of them.
func window(k *limbs, pos int) uint64 {
	i, s := pos/64, uint(pos%64)
	if i >= 4 {
		return 0
	}
	v := k[i] >> s
	if s > 48 && i < 3 {
		v |= k[i+1] << (64 - s)
	}
	return v
}

// windows is the number of signed digits of width c that hold every magnitude
// below 2^bits: one more bit than the magnitude, because a digit of the top
// window may carry.
func windows(bits, c int) int { return (bits + c) / c }
