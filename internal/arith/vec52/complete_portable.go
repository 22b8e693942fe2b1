package vec52

import "github.com/zkbench/zkbench/internal/arith/vec52/layout"

// projective is a point (X : Y : Z).
type projective struct{ x, y, z element }

func (f *Field) loadProjective(p *projective, place []uint64, lane int) {
	f.load(&p.x, place, lane)
	f.load(&p.y, place[f.Block():], lane)
	f.load(&p.z, place[2*f.Block():], lane)
}

func (f *Field) storeProjective(p *projective, place []uint64, lane int) {
	f.store(&p.x, place, lane)
	f.store(&p.y, place[f.Block():], lane)
	f.store(&p.z, place[2*f.Block():], lane)
}

func (f *Field) thriceB(x element) element {
	return f.mul(x, f.constant(layout.Limbs(f.limbs).ThriceB))
}

// cross returns x1 y2 + x2 y1. first is x1 y1 and second is x2 y2.
func (f *Field) cross(x1, y1, x2, y2, first, second element) element {
	a, b := f.carried(f.plus(x1, y1)), f.carried(f.plus(x2, y2))
	return f.carried(f.plus(f.minus(f.minus(f.product(&a, &b), first), second), f.multiple(2)))
}

// complete returns p + q by Algorithm 7 of Renes, Costello and Batina (2015/1060).
func (f *Field) complete(p, q *projective) projective {
	two := f.multiple(2)
	t0, t1, t2 := f.mul(p.x, q.x), f.mul(p.y, q.y), f.mul(p.z, q.z)
	xy := f.cross(p.x, p.y, q.x, q.y, t0, t1)
	yz := f.cross(p.y, p.z, q.y, q.z, t1, t2)
	xz := f.cross(p.x, p.z, q.x, q.z, t0, t2)
	t0 = f.carried(f.plus(f.plus(t0, t0), t0))
	t2 = f.thriceB(t2)
	xz = f.thriceB(xz)
	plus, minus := f.carried(f.plus(t1, t2)), f.difference(t1, t2)
	return projective{
		f.reduced(f.plus(f.minus(f.product(&xy, &minus), f.mul(yz, xz)), two)),
		f.reduced(f.plus(f.plus(f.product(&minus, &plus), f.mul(xz, t0)), two)),
		f.reduced(f.plus(f.plus(f.product(&plus, &yz), f.mul(t0, xy)), two)),
	}
}

// doubled returns 2p by Algorithm 9 of the same paper.
func (f *Field) doubled(p *projective) projective {
	two := f.multiple(2)
	twice := func(x element) element { return f.plus(x, x) }
	yy := f.mul(p.y, p.y)
	eight := f.carried(twice(twice(twice(yy))))
	t := f.thriceB(f.mul(p.z, p.z))
	sum := f.carried(f.plus(yy, t))
	rest := f.carried(f.plus(f.plus(f.minus(yy, f.plus(twice(t), t)), two), two))
	yz := f.mul(p.y, p.z)
	return projective{
		f.reduced(f.plus(twice(f.mul(rest, f.mul(p.x, p.y))), two)),
		f.reduced(f.plus(f.plus(f.product(&rest, &sum), f.mul(t, eight)), two)),
		f.reduced(f.plus(f.product(&yz, &eight), two)),
	}
}

func (f *Field) addSelectedPortable(sum, table []uint64, digits []int64) {
	for i, d := range digits {
		lane := i % Width
		q := projective{y: f.one()}
		if d != 0 {
			at := (i/Width*Choices + int(max(d, -d)) - 1) * f.PlaceWords()
			f.load(&q.x, table[at:], lane)
			f.load(&q.y, table[at+f.Block():], lane)
			q.z = f.one()
		}
		if d < 0 {
			q.y = f.carried(f.minus(f.multiple(1), q.y))
		}
		var p projective
		f.loadProjective(&p, sum, lane)
		p = f.complete(&p, &q)
		f.storeProjective(&p, sum, lane)
	}
}

func (f *Field) addProjectivePortable(sums, others []uint64) {
	for at := 0; at < len(sums); at += f.ProjectiveWords() {
		for lane := range Width {
			var p, q projective
			f.loadProjective(&p, sums[at:], lane)
			f.loadProjective(&q, others[at:], lane)
			p = f.complete(&p, &q)
			f.storeProjective(&p, sums[at:], lane)
		}
	}
}

func (f *Field) doublePortable(sum []uint64, n int) {
	for lane := range Width {
		var p projective
		f.loadProjective(&p, sum, lane)
		for range n {
			p = f.doubled(&p)
		}
		f.storeProjective(&p, sum, lane)
	}
}
