package main

// power sets z to x^n. The conjugate of x must be its inverse, n must have digits of width 4, and z
// must not be x.
func (z *e12) power(x *e12, n *digits) {
	var odd [4]e12 // x, x³, x⁵, x⁷
	var t e12
	odd[0] = *x
	t.cyclotomicSquare(x)
	for i := 1; i < len(odd); i++ {
		odd[i].mul(&odd[i-1], &t)
	}
	*z = odd[n.d[n.n-1]/2]
	for i := n.n - 2; i >= 0; i-- {
		z.cyclotomicSquare(z)
		switch d := n.d[i]; {
		case d > 0:
			z.mul(z, &odd[d/2])
		case d < 0:
			t.conjugate(&odd[-d/2])
			z.mul(z, &t)
		}
	}
}
