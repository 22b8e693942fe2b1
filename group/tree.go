package group

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
type tree[E comparable, PE elementPtr[E]] struct {
	ops      *vectorOps[E]
	complete func(z, a, b *affine[E]) // any sum, slowly
	torsion  bool                     // multiples of points may be the identity

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
	inv     inverter[E]
}

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
func (t *tree[E, PE]) layout() {
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
func (t *tree[E, PE]) place(segment int) int32 {
	j := t.cursor[segment]
	t.cursor[segment] = j + 1
	return t.start[j] + t.rank[segment]
}

// width is the number of entries of a row.
func (t *tree[E, PE]) width(row int) int32 { return t.start[row+1] - t.start[row] }

// reduce adds rows together until one is left, or until a level has fewer than
// minPairs pairs, and returns the number of rows left. The sum of a segment is
// then the sum of its column over those rows.
func (t *tree[E, PE]) reduce(minPairs int) int {
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
func (t *tree[E, PE]) addSpans(total int) {
	ops := t.ops
	additions(total)
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
func (t *tree[E, PE]) setAside(den []E) {
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
				var sum affine[E]
				t.complete(&sum, &affine[E]{t.x[l], t.y[l]}, &affine[E]{t.x[r], t.y[r]})
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

// addColumn adds the sum of a segment, its column over the rows that are left,
// to accumulator i, or subtracts it.
func (t *tree[E, PE]) addColumn(acc accumulators[E], i, segment, rows int, subtract bool) {
	col := t.rank[segment]
	for j := range rows {
		if col >= t.width(j) {
			break
		}
		at := t.start[j] + col
		if subtract {
			acc.sub(i, &t.x[at], &t.y[at])
		} else {
			acc.add(i, &t.x[at], &t.y[at])
		}
	}
}

// extendMultiples completes rows of n points: row 0 holds P_i, row m gets
// (m+1)·P_i.
func (t *tree[E, PE]) extendMultiples(mx, my []E, n int) {
	x, y := t.x, t.y
	defer func() { t.x, t.y = x, y }()
	rows := len(mx) / n
	for k := 1; k < rows; k *= 2 {
		// Row k-1 is kP. Rows k..2k-2 become kP + iP, i = 1..k-1; row 2k-1 = 2(kP).
		for i := range k - 1 {
			copy(mx[(k+i)*n:(k+i+1)*n], mx[(k-1)*n:k*n])
			copy(my[(k+i)*n:(k+i+1)*n], my[(k-1)*n:k*n])
		}
		if k > 1 {
			t.x, t.y, t.hasIdentity = mx, my, t.torsion // a point of small order reaches the identity
			t.spans = append(t.spans[:0], span{int32(k * n), 0, int32((k - 1) * n)})
			t.addSpans((k - 1) * n)
		}
		t.doubleRow(mx[(2*k-1)*n:2*k*n], my[(2*k-1)*n:2*k*n], mx[(k-1)*n:k*n], my[(k-1)*n:k*n])
	}
}

// doubleRow sets (zx, zy) = 2·(x, y): λ = 3x²/2y, x3 = λ²-2x, y3 = λ(x-x3)-y.
// The identity doubles to itself: y = 0 occurs for it alone, since no point of
// these curves has order two.
func (t *tree[E, PE]) doubleRow(zx, zy, x, y []E) {
	n := len(x)
	ops := t.ops
	additions(n)
	t.den, t.num, t.tmp = resize(t.den, 2*n+64), resize(t.num, n), resize(t.tmp, n)
	den, num, tmp := t.den[:n], t.num, t.tmp
	var zero E
	PE(&t.inv.acc).SetUint64(1)
	ops.add(den, y, y)
	for i := range den {
		if den[i] == zero {
			den[i] = t.inv.acc
		}
	}
	invertAll[E, PE](ops, t.den, n, tmp, &t.inv)
	ops.mul(num, x, x)
	ops.add(tmp, num, num)
	ops.add(num, num, tmp)
	ops.mul(num, num, den) // λ
	ops.mul(den, num, num)
	ops.sub(den, den, x)
	ops.sub(den, den, x)
	ops.sub(tmp, x, den)
	ops.mul(tmp, tmp, num)
	ops.sub(zy, tmp, y)
	copy(zx, den)
	for i := range x {
		if x[i] == zero && y[i] == zero {
			zx[i], zy[i] = zero, zero
		}
	}
}
