//go:build !purego

package goldilocks

// The functions in assembly take pointers to n elements and handle all of them, whatever the
// length of the vectors: the predicate excludes the unused lanes of the last register.

//go:noescape
func addSVE(dst, a, b *Element, n int)

//go:noescape
func addSVE2(dst, a, b *Element, n int)

//go:noescape
func subSVE(dst, a, b *Element, n int)

//go:noescape
func subSVE2(dst, a, b *Element, n int)

//go:noescape
func negSVE(dst, a *Element, n int)

//go:noescape
func negSVE2(dst, a *Element, n int)

//go:noescape
func mulSVE(dst, a, b *Element, n int)

//go:noescape
func mulSVE2(dst, a, b *Element, n int)

//go:noescape
func xorSVE(dst, a, b *Element, n int)

//go:noescape
func xorSVE2(dst, a, b *Element, n int)

//go:noescape
func andNotSVE(dst, a, b *Element, n int)

//go:noescape
func andNotSVE2(dst, a, b *Element, n int)

//go:noescape
func squareSVE(dst, a *Element, n int)

//go:noescape
func squareSVE2(dst, a *Element, n int)

//go:noescape
func mulAddSVE(dst, c, a, b *Element, n int)

//go:noescape
func mulAddSVE2(dst, c, a, b *Element, n int)

//go:noescape
func mulScalarSVE(dst, a *Element, n int, s uint64)

//go:noescape
func mulScalarSVE2(dst, a *Element, n int, s uint64)

//go:noescape
func mulAddScalarSVE(dst, c, a *Element, n int, s uint64)

//go:noescape
func mulAddScalarSVE2(dst, c, a *Element, n int, s uint64)

//go:noescape
func mulSmallSVE(dst, a *Element, n int, s uint64)

//go:noescape
func mulSmallSVE2(dst, a *Element, n int, s uint64)

// dotSVE sets sums, for each lane, to the sums of the products' four quarters of 32 bits, the least
// significant first.
//
//go:noescape
func dotSVE(sums *[4][maxLanes]uint64, a, b *Element, n int)

//go:noescape
func dotSVE2(sums *[4][maxLanes]uint64, a, b *Element, n int)

func (k Kernel) addWide(dst, a, b []Element) int {
	if k.name == portable || len(dst) == 0 {
		return 0
	}
	if k.name == sve {
		addSVE(&dst[0], &a[0], &b[0], len(dst))
	} else {
		addSVE2(&dst[0], &a[0], &b[0], len(dst))
	}
	return len(dst)
}

func (k Kernel) subWide(dst, a, b []Element) int {
	if k.name == portable || len(dst) == 0 {
		return 0
	}
	if k.name == sve {
		subSVE(&dst[0], &a[0], &b[0], len(dst))
	} else {
		subSVE2(&dst[0], &a[0], &b[0], len(dst))
	}
	return len(dst)
}

func (k Kernel) mulWide(dst, a, b []Element) int {
	if k.name == portable || len(dst) == 0 {
		return 0
	}
	if k.name == sve {
		mulSVE(&dst[0], &a[0], &b[0], len(dst))
	} else {
		mulSVE2(&dst[0], &a[0], &b[0], len(dst))
	}
	return len(dst)
}

func (k Kernel) mulAddWide(dst, a, b []Element) int {
	if k.name == portable || len(dst) == 0 {
		return 0
	}
	if k.name == sve {
		mulAddSVE(&dst[0], &dst[0], &a[0], &b[0], len(dst))
	} else {
		mulAddSVE2(&dst[0], &dst[0], &a[0], &b[0], len(dst))
	}
	return len(dst)
}

func (k Kernel) xorWide(dst, a, b []Element) int {
	if k.name == portable || len(dst) == 0 {
		return 0
	}
	if k.name == sve {
		xorSVE(&dst[0], &a[0], &b[0], len(dst))
	} else {
		xorSVE2(&dst[0], &a[0], &b[0], len(dst))
	}
	return len(dst)
}

func (k Kernel) andNotWide(dst, a, b []Element) int {
	if k.name == portable || len(dst) == 0 {
		return 0
	}
	if k.name == sve {
		andNotSVE(&dst[0], &a[0], &b[0], len(dst))
	} else {
		andNotSVE2(&dst[0], &a[0], &b[0], len(dst))
	}
	return len(dst)
}

func (k Kernel) packWide(dst []Element, a [][]Element) int {
	if k.name == portable {
		return 0
	}
	copy(dst, a[len(a)-1])
	for i := len(a) - 2; i >= 0; i-- {
		k.addWide(dst, dst, dst)
		k.addWide(dst, dst, a[i][:len(dst)])
	}
	return len(dst)
}

func (k Kernel) butterfliesWide(dst, src, w [][]Element) int { return 0 }

func (k Kernel) addProductsWide(dst, a [][]Element, c []Element) int { return 0 }

func (k Kernel) squareWide(dst, a []Element) int {
	if k.name == portable || len(dst) == 0 {
		return 0
	}
	if k.name == sve {
		squareSVE(&dst[0], &a[0], len(dst))
	} else {
		squareSVE2(&dst[0], &a[0], len(dst))
	}
	return len(dst)
}

func (k Kernel) negWide(dst, a []Element) int {
	if k.name == portable || len(dst) == 0 {
		return 0
	}
	if k.name == sve {
		negSVE(&dst[0], &a[0], len(dst))
	} else {
		negSVE2(&dst[0], &a[0], len(dst))
	}
	return len(dst)
}

func (k Kernel) mulScalarWide(dst, a []Element, c Element) int {
	switch {
	case k.name == portable || len(dst) == 0:
		return 0
	case k.name == sve && c < 1<<32:
		mulSmallSVE(&dst[0], &a[0], len(dst), uint64(c))
	case k.name == sve:
		mulScalarSVE(&dst[0], &a[0], len(dst), uint64(c))
	case c < 1<<32:
		mulSmallSVE2(&dst[0], &a[0], len(dst), uint64(c))
	default:
		mulScalarSVE2(&dst[0], &a[0], len(dst), uint64(c))
	}
	return len(dst)
}

func (k Kernel) mulAddScalarWide(dst, a []Element, c Element) int {
	switch {
	case k.name == portable || len(dst) == 0:
		return 0
	case k.name == sve:
		mulAddScalarSVE(&dst[0], &dst[0], &a[0], len(dst), uint64(c))
	default:
		mulAddScalarSVE2(&dst[0], &dst[0], &a[0], len(dst), uint64(c))
	}
	return len(dst)
}

// maxLanes is the number of elements in the longest register of the architecture, of 2048 bits.
const maxLanes = 32

func (k Kernel) dotWide(a, b []Element) (sum Element, n int) {
	if k.name == portable {
		return 0, 0
	}
	for n < len(a) {
		// A lane's sum of 2^32 - 1 halves, each at most 2^32 - 1, is below 2^64.
		block := min(len(a)-n, 1<<32-1)
		var sums [4][maxLanes]uint64
		if k.name == sve {
			dotSVE(&sums, &a[n], &b[n], block)
		} else {
			dotSVE2(&sums, &a[n], &b[n], block)
		}
		n += block
		var total Element
		for half := 3; half >= 0; half-- {
			total = total.Mul(1 << 32)
			for _, s := range sums[half] {
				total = total.Add(Reduce(s))
			}
		}
		sum = sum.Add(total)
	}
	return sum, n
}
