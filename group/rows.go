package group

// rows holds points by position, in the form that adds them fastest. Points that are stored to be
// picked later are entries, which have their own form.
type rows[E any] interface {
	// lanes returns the power of two to which runs of positions are rounded up.
	lanes() int
	// resize makes room for n positions.
	resize(n int)
	// gather sets the positions from at on to the picked entries, one for each pick. at and the
	// number of picks are multiples of lanes.
	gather(at int32, entries []affine[E], picks []uint32)
	// pack sets entries to the points from position at on, a multiple of lanes.
	pack(entries []affine[E], at int32)
	// add replaces the left point of each of the total pairs by the pair's sum, except for the
	// pairs set aside. If any other pair has equal x, it leaves all as it was and reports false.
	add(spans []span, total int, aside []fixup[E]) bool
	// double doubles n points.
	double(n int)
	// special calls found, in order, for the pairs whose points have equal x or include the
	// identity.
	special(spans []span, found func(pair, l, r int32))
	// get sets p to a point. set sets a point to p, and as a side effect converts p to the form of
	// entries.
	get(p *affine[E], at int32)
	set(at int32, p *affine[E])
	// horner sets dst to weighted sums of the points at positions, in gnark-crypto's form. at has
	// one position per sum with weight 1 (-1 for none), then one per sum with weight 2^doublings,
	// and so on. None of the points is the identity. horner is faster if there are at least
	// leastHorner sums; 0 means never.
	horner(dst []affine[E], at []int32, doublings int)
	leastHorner() int
	// enter sets dst to the points that picks selects, in the form of entries. If picks is nil it
	// takes all points, and dst may be points. images sets dst to entries under φ(x, y) = (βx, y).
	// Both overwrite positions.
	enter(dst, points []affine[E], picks []uint32)
	// enterGathered converts n positions that were gathered from points, as if they had been
	// entries.
	enterGathered(at int32, n int)
	images(dst, entries []affine[E], beta *E)
}

// vectors implements rows by gnark-crypto's elements. A pair is added by
//
//	λ = (y2-y1)/(x2-x1), x3 = λ²-x1-x2, y3 = λ(x1-x3)-y1
//
// with one field inversion for all pairs (Montgomery's trick as a product tree) and every field
// operation through vectorOps. That takes 6 multiplications per pair, against 11 for a mixed
// Jacobian addition. Entries are points as they are.
type vectors[E comparable, PE elementPtr[E]] struct {
	ops  *vectorOps[E]
	x, y []E
	den  []E // denominators and their product tree
	num  []E
	tmp  []E
	inv  inverter[E]

	negative []int32 // positions of a gathering
}

func (v *vectors[E, PE]) lanes() int                 { return 1 }
func (v *vectors[E, PE]) get(p *affine[E], at int32) { *p = affine[E]{v.x[at], v.y[at]} }
func (v *vectors[E, PE]) set(at int32, p *affine[E]) { v.x[at], v.y[at] = p.X, p.Y }

func (v *vectors[E, PE]) resize(n int) { v.x, v.y = resize(v.x, n), resize(v.y, n) }

func (v *vectors[E, PE]) gather(at int32, entries []affine[E], picks []uint32) {
	x, y := v.x[at:], v.y[at:at+int32(len(picks))]
	// A branch on signs would be mispredicted.
	v.negative = resize(v.negative, len(picks))
	n := uint32(0)
	for i, pick := range picks {
		e := &entries[pick&^negated]
		x[i], y[i] = e.X, e.Y
		v.negative[n] = int32(i)
		n += pick >> 31
	}
	for _, i := range v.negative[:n] {
		PE(&y[i]).Neg(&y[i])
	}
}

func (v *vectors[E, PE]) enterGathered(int32, int) {}

func (v *vectors[E, PE]) enter(dst, points []affine[E], picks []uint32) {
	if picks == nil {
		copy(dst, points)
	}
	for i, pick := range picks {
		dst[i] = points[pick&^negated]
		if pick&negated != 0 {
			PE(&dst[i].Y).Neg(&dst[i].Y)
		}
	}
}

func (v *vectors[E, PE]) horner([]affine[E], []int32, int) { panic("group: horner of vectors") }
func (v *vectors[E, PE]) leastHorner() int                 { return 0 }

func (v *vectors[E, PE]) images(dst, entries []affine[E], beta *E) {
	for i := range dst {
		dst[i] = entries[i]
		PE(&dst[i].X).Mul(&dst[i].X, beta)
	}
}

func (v *vectors[E, PE]) pack(entries []affine[E], at int32) {
	for i := range entries {
		entries[i] = affine[E]{v.x[int(at)+i], v.y[int(at)+i]}
	}
}

func (v *vectors[E, PE]) special(spans []span, found func(pair, l, r int32)) {
	var zero E
	pair := int32(0)
	for _, s := range spans {
		for k := range s.n {
			l, r := s.left+k, s.right+k
			if v.x[l] == v.x[r] || v.x[l] == zero && v.y[l] == zero || v.x[r] == zero && v.y[r] == zero {
				found(pair, l, r)
			}
			pair++
		}
	}
}

func (v *vectors[E, PE]) add(spans []span, total int, aside []fixup[E]) bool {
	ops := v.ops
	v.den, v.num, v.tmp = resize(v.den, 2*total+64), resize(v.num, total), resize(v.tmp, total)
	den, num, tmp := v.den[:total], v.num, v.tmp
	off := int32(0)
	for _, s := range spans {
		ops.sub(den[off:off+s.n], v.x[s.right:s.right+s.n], v.x[s.left:s.left+s.n])
		ops.sub(num[off:off+s.n], v.y[s.right:s.right+s.n], v.y[s.left:s.left+s.n])
		off += s.n
	}
	for _, f := range aside {
		PE(&den[f.pair]).SetUint64(1)
	}
	if !invertAll[E, PE](ops, v.den, total, tmp, &v.inv) {
		return false
	}
	ops.mul(num, num, den) // λ
	ops.mul(den, num, num) // λ²
	off = 0
	for _, s := range spans {
		x1, x2, x3 := v.x[s.left:s.left+s.n], v.x[s.right:s.right+s.n], den[off:off+s.n]
		ops.sub(x3, x3, x1)
		ops.sub(x3, x3, x2)
		ops.sub(tmp[off:off+s.n], x1, x3)
		copy(x1, x3)
		off += s.n
	}
	ops.mul(tmp, tmp, num)
	off = 0
	for _, s := range spans {
		y1 := v.y[s.left : s.left+s.n]
		ops.sub(y1, tmp[off:off+s.n], y1)
		off += s.n
	}
	return true
}

// double computes λ = 3x²/2y, x3 = λ²-2x, y3 = λ(x-x3)-y. The identity doubles to itself: only it
// has y = 0, since no point of these curves has order two.
func (v *vectors[E, PE]) double(n int) {
	ops := v.ops
	x, y := v.x[:n], v.y[:n]
	v.den, v.num, v.tmp = resize(v.den, 2*n+64), resize(v.num, n), resize(v.tmp, n)
	den, num, tmp := v.den[:n], v.num, v.tmp
	ops.add(den, y, y)
	invertAll[E, PE](ops, v.den, n, tmp, &v.inv)
	ops.mul(num, x, x)
	ops.add(tmp, num, num)
	ops.add(num, num, tmp)
	ops.mul(num, num, den) // λ
	ops.mul(den, num, num)
	ops.sub(den, den, x)
	ops.sub(den, den, x)
	ops.sub(tmp, x, den)
	ops.mul(tmp, tmp, num)
	ops.sub(y, tmp, y)
	copy(x, den)
}
