package goldilocks

// multiplier is an element m, prepared for products by it that Montgomery's method reduces:
// z has the factor 2^64 that it takes away. The kernels of arm64 multiply so, by six
// instructions.
type multiplier struct {
	z uint64 // 2^64 m modulo p, below p
	q uint64 // z/p modulo 2^64
}

func newMultiplier(m Element) multiplier {
	z := uint64(Reduce128(uint64(m), 0))
	// 1/p is 2^32 + 1 modulo 2^64: (1 - 2^32) (1 + 2^32) = 1 - 2^64.
	return multiplier{z, z + z<<32}
}

// newMultipliers prepares elements.
func newMultipliers(elements []Element) []multiplier {
	all := make([]multiplier, len(elements))
	for i, m := range elements {
		all[i] = newMultiplier(m)
	}
	return all
}
