package main

// g2 is a point of the twist y² = x³ + 3/ξ over Fp2, except the identity.
type g2 struct{ x, y e2 }

// base2 is the generator of G2 in EIP-197.
var base2 = g2{
	e2{
		constant(0x46debd5cd992f6ed, 0x674322d4f75edadd, 0x426a00665e5c4479, 0x1800deef121f1e76),
		constant(0x97e485b7aef312c2, 0xf1aa493335a9e712, 0x7260bfb731fb5d25, 0x198e9393920d483a),
	},
	e2{
		constant(0x4ce6cc0166fa7daa, 0xe3d1e7690c43d37b, 0x4aab71808dcb408f, 0x12c85ea5db8c6deb),
		constant(0x55acdadcd122975b, 0xbc4b313370b38ef3, 0xec9e99ad690c3395, 0x090689d0585ff075),
	},
}

// jacobian2 represents the point (x/z², y/z³).
type jacobian2 struct{ x, y, z e2 }

// multiply sets z to n·p, for n below the order.
func (z *g2) multiply(p *g2, n *digits) {
	t := jacobian2{p.x, p.y, e2{a0: one}}
	minus := g2{x: p.x}
	minus.y.neg(&p.y)
	for i := n.n - 2; i >= 0; i-- {
		t.double()
		switch n.d[i] {
		case 1:
			t.add(p)
		case -1:
			t.add(&minus)
		}
	}
	var inverse, square e2
	inverse.invert(&t.z)
	square.square(&inverse)
	z.x.mul(&t.x, &square)
	square.mul(&square, &inverse)
	z.y.mul(&t.y, &square)
}

func (t *jacobian2) double() {
	var a, b, d e2
	t.z.mul(&t.z, &t.y)
	t.z.double(&t.z)
	b.square(&t.y)
	b.double(&b) // 2y²
	d.mul(&t.x, &b)
	d.double(&d) // 4xy²
	a.square(&t.x)
	a.triple(&a)
	t.x.square(&a)
	t.x.sub(&t.x, &d)
	t.x.sub(&t.x, &d)
	d.sub(&d, &t.x)
	d.mul(&d, &a)
	b.square(&b)
	b.double(&b) // 8y⁴
	t.y.sub(&d, &b)
}

// add adds p to t. p must not be -t.
func (t *jacobian2) add(p *g2) {
	var h, hh, r, v e2
	hh.square(&t.z)
	r.mul(&t.z, &hh)
	r.mul(&r, &p.y)
	r.sub(&r, &t.y)
	h.mul(&p.x, &hh)
	h.sub(&h, &t.x)
	if h == (e2{}) { // for the last digit of n = r - 2
		t.double()
		return
	}
	t.z.mul(&t.z, &h)
	hh.square(&h)
	v.mul(&t.x, &hh)
	h.mul(&h, &hh)
	t.x.square(&r)
	t.x.sub(&t.x, &h)
	t.x.sub(&t.x, &v)
	t.x.sub(&t.x, &v)
	v.sub(&v, &t.x)
	v.mul(&v, &r)
	t.y.mul(&t.y, &h)
	t.y.sub(&v, &t.y)
}
