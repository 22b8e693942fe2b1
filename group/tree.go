package group

// tree sums many segments of affine points at once, level by level. Each level adds pairs of points
// with one field inversion for all (rows).
//
// Many short segments are side by side. Row j holds the j-th point of every segment that has more
// than j points, the longest first. Rows j and n-h+j, h = n/2, are added into row j. Rows only get
// shorter, so a row's sums are a prefix of it, and the rest passes to the next level unmoved.
// Neighbouring full rows make one long run of pairs.
//
// If rows add points in SIMD vectors, long segments follow each other. Each is a run whose second
// half is added to its first until one vector is left. The points of these vectors are then summed
// side by side.
//
// A tree is scratch: it is reused from one sum to the next and is not safe for concurrent use.
type tree[E comparable] struct {
	rows     rows[E]
	complete func(z, a, b *affine[E]) // adds any two points, slowly

	segments int
	apart    int      // positions of a segment, if segments follow each other; else 0
	terms    []term   // in no order, if segments are side by side
	placed   bool     // the terms have positions
	count    []int32  // points per segment
	picks    []uint32 // position -> entry

	// Segments side by side.
	rank   []int32 // segment -> column
	cursor []int32 // points placed so far
	start  []int32 // row -> first position; one entry more than rows
	width  []int32 // row -> its points
	left   int     // rows that are left

	hasIdentity bool // some point or earlier sum may be the identity
	raw         bool // entries are points, not converted

	spans    []span
	special  []fixup[E]
	operands [2]affine[E] // of calls
	entries  []affine[E]  // the points left of runs
}

// term is a pick that belongs to a segment.
type term struct {
	pick    uint32
	segment int32
}

// span is a run of pairs of positions: left+i and right+i for i < n.
type span struct{ left, right, n int32 }

// fixup is a pair that the affine formulas cannot add, and its sum.
type fixup[E any] struct {
	pair, at int32 // which of the level's pairs, and its left position
	sum      affine[E]
}

// minPairs is the number of pairs below which a level costs more (one
// inversion, about twenty vector calls) than finishing with Jacobian additions.
const minPairs = 12

// longVectors is the number of vectors from which a segment becomes a run.
const longVectors = 6

// negated is the bit of a pick that negates its point.
const negated = 1 << 31

// begin prepares the given number of sums, each of up to most points.
func (t *tree[E]) begin(segments, most int) {
	t.count = resize(t.count, segments)
	clear(t.count)
	t.segments, t.apart, t.placed = segments, 0, false
	t.terms = t.terms[:0]
	t.raw = false
	if lanes := t.rows.lanes(); lanes > 1 && most >= longVectors*lanes {
		t.apart = (most + lanes - 1) &^ (lanes - 1)
		t.picks = resize(t.picks, segments*t.apart)
	}
	t.hasIdentity = false
}

// add adds an entry to a segment.
func (t *tree[E]) add(segment int32, pick uint32) {
	k := t.count[segment]
	t.count[segment] = k + 1
	if t.apart > 0 {
		t.picks[int(segment)*t.apart+int(k)] = pick
		return
	}
	t.terms = append(t.terms, term{pick, segment})
}

// fill adds all entries: picks[at[k]:at[k+1]] go to segment k.
func (t *tree[E]) fill(picks []uint32, at []int32) {
	for k := range t.count {
		t.count[k] = at[k+1] - at[k]
	}
	if t.apart > 0 {
		for k := range t.count {
			copy(t.picks[k*t.apart:], picks[at[k]:at[k+1]])
		}
		return
	}
	t.layout()
	for k, column := range t.rank {
		for j, pick := range picks[at[k]:at[k+1]] {
			t.picks[t.start[j]+column] = pick
		}
	}
	t.placed = true
}

// load gathers entries in order.
func (t *tree[E]) load(entries []affine[E]) {
	lanes := t.rows.lanes()
	t.picks = resize(t.picks, (len(entries)+lanes-1)&^(lanes-1))
	for k := range t.picks {
		t.picks[k] = uint32(min(k, len(entries)-1))
	}
	t.rows.resize(len(t.picks))
	t.rows.gather(0, entries, t.picks)
}

// reduce takes the terms from entries and adds them together until a segment
// has one point, or until a level has fewer than minPairs pairs. The sum of a
// segment is then the sum of its column over the rows that are left.
func (t *tree[E]) reduce(entries []affine[E], minPairs int) {
	if t.apart > 0 {
		entries = t.halve(entries, minPairs)
	}
	if !t.placed {
		t.place()
	}
	t.gather(0, entries, t.picks)
	for t.left > 1 && t.level(minPairs) {
	}
}

func (t *tree[E]) gather(at int32, entries []affine[E], picks []uint32) {
	t.rows.gather(at, entries, picks)
	if t.raw {
		t.rows.enterGathered(at, len(picks))
	}
}

// halve sums runs until one vector is left. It returns the points of these vectors as entries,
// which become the terms.
func (t *tree[E]) halve(entries []affine[E], minPairs int) []affine[E] {
	lanes := int32(t.rows.lanes())
	t.start = resize(t.start, t.segments)
	at := int32(0)
	for s, n := range t.count {
		first := s * t.apart
		end := (n + lanes - 1) &^ (lanes - 1)
		picks := t.picks[first : first+int(end)]
		clear(picks[n:])
		t.start[s] = at
		at += end
	}
	t.rows.resize(int(at))
	for s, n := range t.count {
		end := (n + lanes - 1) &^ (lanes - 1)
		t.gather(t.start[s], entries, t.picks[s*t.apart:s*t.apart+int(end)])
	}
	t.raw = false
	for {
		t.spans = t.spans[:0]
		total := int32(0)
		for s, n := range t.count {
			if n > lanes {
				half := ((n+lanes-1)/lanes + 1) / 2 * lanes
				t.spans = append(t.spans, span{t.start[s], t.start[s] + half, n - half})
				total += n - half
			}
		}
		if int(total) < max(minPairs, 1) {
			break
		}
		t.addSpans(int(total))
		for s, n := range t.count {
			if n > lanes {
				t.count[s] = ((n+lanes-1)/lanes + 1) / 2 * lanes
			}
		}
	}
	t.apart = 0
	all, used := int32(0), int32(0)
	for _, n := range t.count {
		all += n
	}
	t.entries = resize(t.entries, int(all))
	for s, n := range t.count {
		t.rows.pack(t.entries[used:used+n], t.start[s])
		for k := range n {
			t.terms = append(t.terms, term{uint32(used + k), int32(s)})
		}
		used += n
	}
	return t.entries
}

// layout assigns a column to every segment, and positions to the rows.
func (t *tree[E]) layout() {
	t.rank = resize(t.rank, t.segments)
	longest := int32(0)
	for _, c := range t.count {
		longest = max(longest, c)
	}
	t.left = int(longest)
	// Counting sort by length, longest first. hist[c] first counts segments of
	// length c, then becomes the first column of that length.
	t.start = resize(t.start, t.left+2)
	hist := t.start
	clear(hist)
	for _, c := range t.count {
		hist[c]++
	}
	column := int32(0)
	for c := t.left; c >= 0; c-- {
		hist[c], column = column, column+hist[c]
	}
	for s, c := range t.count {
		t.rank[s] = hist[c]
		hist[c]++
	}
	// Now hist[c] is the number of segments of length >= c, and row j has those
	// that are longer than j.
	lanes := int32(t.rows.lanes())
	t.width = resize(t.width, t.left)
	offset := int32(0)
	for j := range t.left {
		t.width[j] = hist[j+1]
		t.start[j], offset = offset, offset+(t.width[j]+lanes-1)&^(lanes-1)
	}
	t.start[t.left] = offset
	t.picks = resize(t.picks, int(offset))
	if lanes > 1 {
		clear(t.picks)
	}
	t.rows.resize(int(offset))
}

// place assigns a position to every term.
func (t *tree[E]) place() {
	t.layout()
	t.cursor = resize(t.cursor, t.segments)
	clear(t.cursor)
	for _, m := range t.terms {
		j := t.cursor[m.segment]
		t.cursor[m.segment] = j + 1
		t.picks[t.start[j]+t.rank[m.segment]] = m.pick
	}
}

// level adds the lower half of the rows to the upper. It reports false if there are fewer than
// minPairs pairs.
func (t *tree[E]) level(minPairs int) bool {
	n, h := t.left, t.left/2
	t.spans = t.spans[:0]
	total := int32(0)
	for j := range h {
		l, r, w := t.start[j], t.start[n-h+j], t.width[n-h+j]
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
		return false
	}
	t.addSpans(int(total))
	t.left -= h
	return true
}

// addSpans replaces each left point by the sum of its pair; total is the number
// of pairs.
func (t *tree[E]) addSpans(total int) {
	additions(total)
	t.special = t.special[:0]
	if !t.hasIdentity && t.rows.add(t.spans, total, nil) {
		return
	}
	// Some sum is a doubling, one of opposite points, or of an identity.
	t.setAside()
	t.rows.add(t.spans, total, t.special)
	for i := range t.special {
		t.rows.set(t.special[i].at, &t.special[i].sum)
	}
}

// setAside uses the complete addition for pairs that the affine formulas cannot add (equal x, or an
// identity operand). It costs a scan; such pairs are rare.
func (t *tree[E]) setAside() {
	var zero affine[E]
	a, b := &t.operands[0], &t.operands[1]
	t.rows.special(t.spans, func(pair, l, r int32) {
		t.rows.get(a, l)
		t.rows.get(b, r)
		t.complete(a, a, b)
		t.hasIdentity = t.hasIdentity || *a == zero
		t.special = append(t.special, fixup[E]{pair, l, *a})
	})
}

// addColumn adds the sum of a segment, its column over the rows that are left,
// to accumulator i.
func (t *tree[E]) addColumn(acc accumulators[E], i, segment int) {
	column := t.rank[segment]
	for j := range t.left {
		if column >= t.width[j] {
			break
		}
		p := &t.operands[0]
		t.rows.get(p, t.start[j]+column)
		acc.add(i, &p.X, &p.Y)
	}
}

// position returns the position of a segment's sum if one row is left, or -1 if the sum is the
// identity.
func (t *tree[E]) position(segment int) int32 {
	column := t.rank[segment]
	if t.left == 0 || column >= t.width[0] {
		return -1
	}
	at := t.start[0] + column
	if t.hasIdentity {
		var zero affine[E]
		p := &t.operands[0]
		if t.rows.get(p, at); *p == zero {
			return -1
		}
	}
	return at
}

// extendMultiples completes rows of n entries. Row 0 holds P_i, none of which is the identity; row
// m gets (m+1)·P_i.
func (t *tree[E]) extendMultiples(entries []affine[E], n int) {
	lanes := t.rows.lanes()
	whole := func(n int) int { return (n + lanes - 1) &^ (lanes - 1) }
	gather := func(at, n int, pick func(i int) int) {
		t.picks = resize(t.picks, whole(n))
		clear(t.picks)
		for i := range n {
			t.picks[i] = uint32(pick(i))
		}
		t.rows.gather(int32(at), entries, t.picks)
	}
	t.hasIdentity = false // until a point of small order reaches it
	for k := 1; k < len(entries)/n; k *= 2 {
		// Row k-1 is kP. Rows k..2k-2 become kP + iP, i = 1..k-1; row 2k-1 = 2(kP).
		m := (k - 1) * n
		t.rows.resize(2*whole(m) + whole(n))
		if m > 0 {
			gather(0, m, func(i int) int { return m + i%n })
			gather(whole(m), m, func(i int) int { return i })
			t.spans = append(t.spans[:0], span{0, int32(whole(m)), int32(m)})
			t.addSpans(m)
			t.rows.pack(entries[k*n:k*n+m], 0)
		}
		gather(0, n, func(i int) int { return m + i })
		additions(n)
		t.rows.double(n)
		t.rows.pack(entries[(2*k-1)*n:2*k*n], 0)
	}
}
