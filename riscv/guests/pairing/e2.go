package main

// e2 is an element a0 + a1·u of Fp2 = Fp[u]/(u² + 1). The build's tags select how sums and products
// are computed.
type e2 struct{ a0, a1 fp }

func (z *e2) double(x *e2) { z.add(x, x) }

func (z *e2) neg(x *e2) { z.sub(&e2{}, x) }

func (z *e2) conjugate(x *e2) {
	z.a0 = x.a0
	z.a1.Sub(&zero, &x.a1)
}

// mulBase sets z to x·y, for y in the base field.
func (z *e2) mulBase(x *e2, y *fp) {
	z.a0.Mul(&x.a0, y)
	z.a1.Mul(&x.a1, y)
}

func (z *e2) triple(x *e2) {
	var twice e2
	twice.double(x)
	z.add(&twice, x)
}

// invert sets z to 1/x for x != 0: the conjugate of x, divided by its norm.
func (z *e2) invert(x *e2) {
	var norm, square fp
	norm.Mul(&x.a0, &x.a0)
	square.Mul(&x.a1, &x.a1)
	norm.Add(&norm, &square)
	invert(&norm, &norm)
	z.conjugate(x)
	z.mulBase(z, &norm)
}
