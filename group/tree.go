package group

import "slices"

// tree sums many segments of affine points at once. Each level adds pairs of
// points by the affine formulas
//
//	λ = (y2-y1)/(x2-x1), x3 = λ²-x1-x2, y3 = λ(x1-x3)-y1
//
// with one field inversion for all pairs of the level (Montgomery's trick as a
// product tree) and every field operation through vectorOps: 6 multiplications
// a pair, against 11 for a mixed Jacobian addition.
//
// Points lie in rows: row j holds the j-th point of every segment that has more
// than j, the longest segments first. Rows j and n-h+j, h = n/2, are added
// into row j; since rows only get shorter, a row's sums are a prefix of it and
// the rest passes to the next level where it is. Nothing is moved between
// levels, and neighbouring full rows make one long vector.
//
// A tree is scratch: it is reused from one sum to the next and is not safe for
// concurrent use.
type tree[E comparable, P interface{ ~struct{ X, Y E } }, J any, PE elementPtr[E], PP pointPtr[P, J]] struct {
	ops *vectorOps[E]

	x, y []E // rows

	// Layout of the current sum.
	count  []int32 // points per segment
	rank   []int32 // segment -> column
	cursor []int32 // points placed so far
	start  []int32 // row -> first index in x, y; one more than there are rows
	rows   int

	hasIdentity bool // some point or earlier sum may be the identity

	spans   []span
	den     []E // denominators and their product tree
	num     []E
	tmp     []E
	special []fixup[E]

	// Operands of calls through the type dictionary live here: as locals they
	// would be heap-allocated at every call.
	inv  inverter[E]
	p, q P
	part J
}

// inverter is the working memory of invertAll.
type inverter[E any] struct {
	acc    E
	prefix [invertTop]E
}

// invertTop is the size at which the product tree gives way to a chain.
const invertTop = 4

// span is a run of pairs: x[left+i], x[right+i] for i < n.
type span struct{ left, right, n int32 }

// fixup is a sum that the affine formulas do not cover, found by the complete
// addition, to be stored after the level.
type fixup[E any] struct {
	at  int32
	sum affine[E]
}

// minPairs is the number of pairs below which a level costs more (one
// inversion, about twenty vector calls) than finishing with Jacobian additions.
const minPairs = 12

// layout prepares rows for the segments whose sizes the caller has put into
// t.count.
func (t *tree[E, P, J, PE, PP]) layout() {
	segments := len(t.count)
	t.rank = resize(t.rank, segments)
	t.cursor = resize(t.cursor, segments)
	clear(t.cursor)
	longest := int32(0)
	for _, c := range t.count {
		longest = max(longest, c)
	}
	t.rows = int(longest)
	// Counting sort by length, longest first. hist[c] first counts segments of
	// length c, then becomes the first column of that length.
	t.start = resize(t.start, t.rows+2)
	hist := t.start
	clear(hist)
	for _, c := range t.count {
		hist[c]++
	}
	column := int32(0)
	for c := t.rows; c >= 0; c-- {
		hist[c], column = column, column+hist[c]
	}
	for s, c := range t.count {
		t.rank[s] = hist[c]
		hist[c]++
	}
	// Now hist[c] is the number of segments of length >= c, so row j, whose
	// segments are longer than j, has hist[j+1] entries.
	offset := int32(0)
	for j := range t.rows {
		width := hist[j+1]
		t.start[j], offset = offset, offset+width
	}
	t.start[t.rows] = offset
	t.x = resize(t.x, int(offset))
	t.y = resize(t.y, int(offset))
	t.hasIdentity = false
}

// place returns the index in x and y for the next point of a segment.
func (t *tree[E, P, J, PE, PP]) place(segment int) int32 {
	j := t.cursor[segment]
	t.cursor[segment] = j + 1
	return t.start[j] + t.rank[segment]
}

// width is the number of entries of a row.
func (t *tree[E, P, J, PE, PP]) width(row int) int32 { return t.start[row+1] - t.start[row] }

// reduce adds rows together until one is left, or until a level has fewer than
// minPairs pairs, and returns the number of rows left. The sum of a segment is
// then the sum of its column over those rows.
func (t *tree[E, P, J, PE, PP]) reduce(minPairs int) int {
	n := t.rows
	for n > 1 {
		h := n / 2
		t.spans = t.spans[:0]
		total := int32(0)
		for j := range h {
			l, r, w := t.start[j], t.start[n-h+j], t.width(n-h+j)
			if w == 0 {
				break
			}
			if k := len(t.spans) - 1; k >= 0 && t.spans[k].left+t.spans[k].n == l && t.spans[k].right+t.spans[k].n == r {
				t.spans[k].n += w
			} else {
				t.spans = append(t.spans, span{l, r, w})
			}
			total += w
		}
		if int(total) < minPairs {
			break
		}
		t.addSpans(int(total))
		n -= h
	}
	return n
}

// addSpans replaces each left point by the sum of its pair; total is the number
// of pairs.
func (t *tree[E, P, J, PE, PP]) addSpans(total int) {
	ops := t.ops
	t.den = resize(t.den, 2*total+64)
	t.num = resize(t.num, total)
	t.tmp = resize(t.tmp, total)
	den, num, tmp := t.den[:total], t.num, t.tmp
	off := int32(0)
	for _, s := range t.spans {
		ops.sub(den[off:off+s.n], t.x[s.right:s.right+s.n], t.x[s.left:s.left+s.n])
		ops.sub(num[off:off+s.n], t.y[s.right:s.right+s.n], t.y[s.left:s.left+s.n])
		off += s.n
	}
	t.special = t.special[:0]
	if t.hasIdentity {
		t.setAside(den)
	}
	if !invertAll[E, PE](ops, t.den, total, tmp, &t.inv) {
		// Some x1 = x2: a doubling or a sum of opposite points.
		t.setAside(den)
		invertAll[E, PE](ops, t.den, total, tmp, &t.inv)
	}
	ops.mul(num, num, den) // λ
	ops.mul(den, num, num) // λ²
	off = 0
	for _, s := range t.spans {
		x1, x2, x3 := t.x[s.left:s.left+s.n], t.x[s.right:s.right+s.n], den[off:off+s.n]
		ops.sub(x3, x3, x1)
		ops.sub(x3, x3, x2)
		ops.sub(tmp[off:off+s.n], x1, x3)
		copy(x1, x3)
		off += s.n
	}
	ops.mul(tmp, tmp, num)
	off = 0
	for _, s := range t.spans {
		y1 := t.y[s.left : s.left+s.n]
		ops.sub(y1, tmp[off:off+s.n], y1)
		off += s.n
	}
	for _, f := range t.special {
		t.x[f.at], t.y[f.at] = f.sum.X, f.sum.Y
	}
}

// setAside computes the pairs that the affine formulas do not cover (equal x,
// or an identity operand) by the complete addition and puts 1 in their place
// among the denominators. Its cost is that of a scan; such pairs are rare.
func (t *tree[E, P, J, PE, PP]) setAside(den []E) {
	var zero E
	one := &t.inv.acc
	PE(one).SetUint64(1)
	i := 0
	for _, s := range t.spans {
		for k := range s.n {
			l, r := s.left+k, s.right+k
			leftZero := t.x[l] == zero && t.y[l] == zero
			rightZero := t.x[r] == zero && t.y[r] == zero
			if den[i] == zero || leftZero || rightZero {
				t.p, t.q = P(affine[E]{t.x[l], t.y[l]}), P(affine[E]{t.x[r], t.y[r]})
				PP(&t.p).Add(&t.p, &t.q)
				sum := affine[E](t.p)
				if sum.X == zero && sum.Y == zero {
					t.hasIdentity = true
				}
				t.special = append(t.special, fixup[E]{l, sum})
				den[i] = *one
			}
			i++
		}
	}
}

// invertAll inverts v[:n] in place, 3 multiplications an element, all but the
// last few in vectors. It reports whether it could: where some element is zero
// it leaves v[:n] as it was and returns false. The levels of the product tree
// lie behind each other in v, which needs room for 2n+64 elements; tmp for n/2.
func invertAll[E comparable, PE elementPtr[E]](ops *vectorOps[E], v []E, n int, tmp []E, s *inverter[E]) bool {
	// Each level multiplies its halves; an odd level's middle element passes up.
	var sizes [40]int
	depth, base := 0, 0
	for sizes[0] = n; sizes[depth] > invertTop; depth++ {
		m := sizes[depth]
		h := m / 2
		next := v[base+m:]
		ops.mul(next[:h], v[base:base+h], v[base+m-h:base+m])
		if m%2 == 1 {
			next[h] = v[base+h]
		}
		sizes[depth+1] = m - h
		base += m
	}
	var zero E
	acc := PE(&s.acc)
	top := v[base : base+sizes[depth]]
	acc.SetUint64(1)
	for i := range top {
		s.prefix[i] = s.acc
		acc.Mul(&s.acc, &top[i])
	}
	if s.acc == zero {
		return false
	}
	acc.Inverse(&s.acc)
	for i := len(top) - 1; i >= 0; i-- {
		PE(&s.prefix[i]).Mul(&s.prefix[i], &s.acc)
		acc.Mul(&s.acc, &top[i])
		top[i] = s.prefix[i]
	}
	for ; depth > 0; depth-- {
		m := sizes[depth-1]
		h := m / 2
		inv := v[base : base+m-h]
		base -= m
		lo, hi := v[base:base+h], v[base+m-h:base+m]
		ops.mul(tmp[:h], inv[:h], hi)
		ops.mul(hi, inv[:h], lo)
		copy(lo, tmp[:h])
		if m%2 == 1 {
			v[base+h] = inv[h]
		}
	}
	return true
}

// resize returns a slice of length n, reusing s where it is large enough. The
// contents are unspecified.
func resize[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return slices.Grow(s[:0], n)[:n]
}
