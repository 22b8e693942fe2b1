//go:build bigint || !precompile

package main

// jacobian1 represents the point (x/z², y/z³).
type jacobian1 struct{ x, y, z fp }

// multiply sets z to n·p, for n below the order.
func (z *g1) multiply(p *g1, n *digits) {
	t := jacobian1{p.x, p.y, one}
	minus := g1{x: p.x}
	minus.y.Sub(&zero, &p.y)
	for i := n.n - 2; i >= 0; i-- {
		t.double()
		switch n.d[i] {
		case 1:
			t.add(p)
		case -1:
			t.add(&minus)
		}
	}
	var inverse, square fp
	invert(&inverse, &t.z)
	square.Mul(&inverse, &inverse)
	z.x.Mul(&t.x, &square)
	square.Mul(&square, &inverse)
	z.y.Mul(&t.y, &square)
}

func (t *jacobian1) double() {
	var a, b, d fp
	t.z.Mul(&t.z, &t.y)
	t.z.Add(&t.z, &t.z)
	b.Mul(&t.y, &t.y)
	b.Add(&b, &b) // 2y²
	d.Mul(&t.x, &b)
	d.Add(&d, &d) // 4xy²
	a.Mul(&t.x, &t.x)
	t.x.Add(&a, &a)
	a.Add(&a, &t.x) // 3x²
	t.x.Mul(&a, &a)
	t.x.Sub(&t.x, &d)
	t.x.Sub(&t.x, &d)
	d.Sub(&d, &t.x)
	d.Mul(&d, &a)
	b.Mul(&b, &b)
	b.Add(&b, &b) // 8y⁴
	t.y.Sub(&d, &b)
}

// add adds p to t. p must not be -t.
func (t *jacobian1) add(p *g1) {
	var h, hh, r, v fp
	hh.Mul(&t.z, &t.z)
	r.Mul(&t.z, &hh)
	r.Mul(&r, &p.y)
	r.Sub(&r, &t.y)
	h.Mul(&p.x, &hh)
	h.Sub(&h, &t.x)
	if h == zero { // for the last digit of n = r - 2
		t.double()
		return
	}
	t.z.Mul(&t.z, &h)
	hh.Mul(&h, &h)
	v.Mul(&t.x, &hh)
	h.Mul(&h, &hh)
	t.x.Mul(&r, &r)
	t.x.Sub(&t.x, &h)
	t.x.Sub(&t.x, &v)
	t.x.Sub(&t.x, &v)
	v.Sub(&v, &t.x)
	v.Mul(&v, &r)
	t.y.Mul(&t.y, &h)
	t.y.Sub(&v, &t.y)
}
