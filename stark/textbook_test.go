package stark

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/transcript"
)

// The textbook is a verifier that follows docs/stark.md, over Goldilocks and X² = 7 with trees of
// Keccak-256: numbers are big, nothing is shared, and of the package it takes the programs, the
// buses' numbers and the system's digest.

var textbookOrder = new(big.Int).SetUint64(0xffffffff00000001)

// num is a + b X.
type num struct{ a, b *big.Int }

func scalar(v uint64) num { return num{new(big.Int).SetUint64(v), new(big.Int)} }

func mod(x *big.Int) *big.Int { return x.Mod(x, textbookOrder) }

func (x num) plus(y num) num {
	return num{mod(new(big.Int).Add(x.a, y.a)), mod(new(big.Int).Add(x.b, y.b))}
}

func (x num) minus(y num) num {
	return num{mod(new(big.Int).Sub(x.a, y.a)), mod(new(big.Int).Sub(x.b, y.b))}
}

func (x num) times(y num) num {
	ab := func(x, y *big.Int) *big.Int { return new(big.Int).Mul(x, y) }
	seven := new(big.Int).Mul(big.NewInt(7), ab(x.b, y.b))
	return num{mod(seven.Add(seven, ab(x.a, y.a))), mod(new(big.Int).Add(ab(x.a, y.b), ab(x.b, y.a)))}
}

func (x num) pow(n uint64) num {
	r := scalar(1)
	for i := 63; i >= 0; i-- {
		if r = r.times(r); n>>i&1 == 1 {
			r = r.times(x)
		}
	}
	return r
}

// over returns x / y, by the norm a² - 7 b².
func (x num) over(y num) num {
	conjugate := num{y.a, mod(new(big.Int).Neg(y.b))}
	norm := y.times(conjugate)
	inverse := new(big.Int).ModInverse(norm.a, textbookOrder)
	if inverse == nil {
		panic("division by zero")
	}
	return x.times(conjugate).times(num{inverse, new(big.Int)})
}

func (x num) equals(y num) bool { return x.a.Cmp(y.a) == 0 && x.b.Cmp(y.b) == 0 }

// root returns a root of unity of order 2^log.
func root(log int) num { return scalar(7).pow((0xffffffff00000001 - 1) >> log) }

// Evaluating a program.
type textbookAlgebra struct {
	publics    []uint64
	fixed      []num
	here, next []num
}

func (t textbookAlgebra) Constant(c air.Int) num {
	x := num{mod(new(big.Int).SetUint64(c.Abs)), new(big.Int)}
	if c.Negative {
		return scalar(0).minus(x)
	}
	return x
}
func (t textbookAlgebra) Fixed(i int) num  { return t.fixed[i] }
func (t textbookAlgebra) Here(i int) num   { return t.here[i] }
func (t textbookAlgebra) Next(i int) num   { return t.next[i] }
func (t textbookAlgebra) Public(i int) num { return scalar(t.publics[i]) }
func (t textbookAlgebra) Add(x, y num) num { return x.plus(y) }
func (t textbookAlgebra) Sub(x, y num) num { return x.minus(y) }
func (t textbookAlgebra) Mul(x, y num) num { return x.times(y) }

type textbook struct {
	s     *System
	t     transcript.Transcript
	in    []byte
	image [][][]uint64 // for each table, the contents of its image
	tops  [5][][]byte  // of the fixed columns, in place 3, and of the image, in place 4
}

func (b *textbook) fail(format string, a ...any) { panic(fmt.Errorf(format, a...)) }

func (b *textbook) bytes(n int) []byte {
	if len(b.in) < n {
		b.fail("the proof ends early")
	}
	part := b.in[:n]
	b.in = b.in[n:]
	return part
}

func (b *textbook) element() num {
	v := binary.LittleEndian.Uint64(b.bytes(8))
	if v >= 0xffffffff00000001 {
		b.fail("an element is not below p")
	}
	return scalar(v)
}

func (b *textbook) pair() num {
	x, y := b.element(), b.element()
	return num{x.a, y.a}
}

func (b *textbook) digests(n int) [][]byte {
	var all [][]byte
	for range n {
		all = append(all, b.bytes(32))
	}
	return all
}

func (b *textbook) absorb(label string, digests [][]byte) {
	b.t.Append(label, slices.Concat(digests...))
}

func encodePairs(all []num) (out []byte) {
	for _, x := range all {
		out = binary.LittleEndian.AppendUint64(out, x.a.Uint64())
		out = binary.LittleEndian.AppendUint64(out, x.b.Uint64())
	}
	return out
}

func (b *textbook) challenge(label string, outside bool) num {
	for {
		raw := b.t.Challenge(label)
		var some []uint64
		for i := 0; i < 64; i += 8 {
			if v := binary.LittleEndian.Uint64(raw[i:]); v < 0xffffffff00000001 {
				some = append(some, v)
			}
		}
		if len(some) < 2 || outside && some[1] == 0 {
			continue
		}
		return num{scalar(some[0]).a, scalar(some[1]).a}
	}
}

// equality returns the weights of n words. A weight is a product over the bits of the word's number, the
// lowest first.
func (b *textbook) equality(label string, n int) []num {
	var rs []num
	for 1<<len(rs) < n {
		rs = append(rs, b.challenge(label, false))
	}
	var all []num
	for i := range n {
		w := scalar(1)
		for bit, r := range rs {
			if i>>bit&1 == 1 {
				w = w.times(r)
			} else {
				w = w.times(scalar(1).minus(r))
			}
		}
		all = append(all, w)
	}
	return all
}

func reversedBits(i, log int) uint64 {
	if log == 0 {
		return 0
	}
	return bits.Reverse64(uint64(i)) >> (64 - log)
}

// opening checks leaves against a cap and returns them by position.
func (b *textbook) opening(top [][]byte, log int, places []int, width int) map[int][]num {
	n := int(binary.LittleEndian.Uint16(b.bytes(2)))
	if n != len(places) {
		b.fail("%d leaves of %d", n, len(places))
	}
	known := make(map[int][]byte)
	out := make(map[int][]num)
	for _, place := range places {
		raw := b.in[:min(len(b.in), 8*width)]
		for range width {
			out[place] = append(out[place], b.element())
		}
		digest := keccak.Sum256(raw)
		known[place] = digest[:]
	}
	path := b.digests(int(binary.LittleEndian.Uint16(b.bytes(2))))
	for size := 1 << log; size > len(top); size /= 2 {
		var at []int
		for place := range known {
			at = append(at, place)
		}
		sort.Ints(at)
		above := make(map[int][]byte)
		for _, place := range at {
			if above[place/2] != nil {
				continue
			}
			sibling := known[place^1]
			if sibling == nil {
				if len(path) == 0 {
					b.fail("a path ends early")
				}
				sibling, path = path[0], path[1:]
			}
			pair := [2][]byte{known[place], sibling}
			if place%2 == 1 {
				pair[0], pair[1] = pair[1], pair[0]
			}
			digest := keccak.Sum256(slices.Concat(pair[0], pair[1]))
			above[place/2] = digest[:]
		}
		known = above
	}
	if len(path) > 0 {
		b.fail("a path goes on")
	}
	for place, digest := range known {
		if string(top[place]) != string(digest) {
			b.fail("a leaf does not lead to the cap")
		}
	}
	return out
}

// textbookTable holds the fixed columns of a table of 2^rows rows.
type textbookTable struct {
	rows  int
	fixed [][]uint64
}

// firstPoint returns the first point of the domain for words of length 2^size.
func (b *textbook) firstPoint(size int) num {
	fixed, images := 0, 0
	for _, t := range b.s.tables {
		if len(t.Fixed) > 0 {
			fixed++
		}
		images += t.Image
	}
	if fixed+images == 0 || fixed == len(b.s.tables) {
		return scalar(7)
	}
	return scalar(7).pow(1 << (32 - size))
}

// fixedKind returns the place of what is committed to of a table's fixed columns.
func (b *textbook) fixedKind(table int) int {
	if b.s.tables[table].Image > 0 {
		return 4
	}
	return 3
}

// fixedCap commits to fixed columns or to an image. At each point of the domain there are all stacks, each made of columns
// at x^k.
func (b *textbook) fixedCap(kind int, tables []textbookTable, size, shared int) [][]byte {
	if b.tops[kind] != nil {
		return b.tops[kind]
	}
	domain := size + b.s.params.LogBlowup
	at := make([][]byte, 1<<domain) // of each place, what it has
	for place := range at {
		x := b.firstPoint(size).times(root(domain).pow(uint64(place >> size))).times(root(size).pow(uint64(place % (1 << size))))
		for _, t := range tables {
			if len(t.fixed) == 0 {
				continue
			}
			stack := size - t.rows
			// A column's value at u is Σ f(h) h (u^n - 1) / (n (u - h)) over the rows' h.
			u, n := x.pow(1<<stack), uint64(1<<t.rows)
			var weights []num
			for row := range n {
				h := root(t.rows).pow(row)
				weights = append(weights, h.times(u.pow(n).minus(scalar(1))).over(scalar(n).times(u.minus(h))))
			}
			for from := 0; from < len(t.fixed); from += 1 << stack {
				sum := scalar(0)
				for i, column := range t.fixed[from:min(len(t.fixed), from+1<<stack)] {
					value := scalar(0)
					for row, cell := range column {
						value = value.plus(scalar(cell).times(weights[row]))
					}
					sum = sum.plus(x.pow(reversedBits(i, stack)).times(value))
				}
				at[place] = binary.LittleEndian.AppendUint64(at[place], sum.a.Uint64())
			}
		}
	}
	level := make([][]byte, 1<<(domain-shared))
	for leaf := range level {
		log := size - shared
		var data []byte
		for part := range 1 << shared {
			data = append(data, at[leaf>>log<<size|part<<log|leaf%(1<<log)]...)
		}
		digest := keccak.Sum256(data)
		level[leaf] = digest[:]
	}
	for len(level) > b.capOf(domain-shared) {
		above := make([][]byte, len(level)/2)
		for i := range above {
			digest := keccak.Sum256(slices.Concat(level[2*i], level[2*i+1]))
			above[i] = digest[:]
		}
		level = above
	}
	b.tops[kind] = level
	return level
}

func (b *textbook) capOf(log int) int { return 1 << min(log, b.s.params.LogCap) }

// verify panics with what is wrong.
func (b *textbook) verify(about Statement) {
	s := b.s
	params := s.params
	// In zero knowledge rows of each table are left out, places have more, and so do leaves.
	random, masks, salt := 0, 0, 0
	if params.ZeroKnowledge {
		random, masks, salt = 2*params.Queries+2*2+1, 2, 3
	}
	var rows []int
	b.t = transcript.New("stark")
	b.t.Append("system", s.digest[:])
	heights := b.bytes(len(s.tables))
	size, fixedSize := 0, [5]int{} // the words of fixed columns are as long as if there were no other tables
	for i, h := range heights {
		if h < 1 || int(h)+params.Stack+params.LogBlowup > 32 || 1<<h < 2*random {
			b.fail("height 2^%d", h)
		}
		rows = append(rows, int(h))
		size = max(size, int(h)+params.Stack)
		columns, kind := s.tables[i].Fixed, b.fixedKind(i)
		if kind == 4 {
			columns = b.image[i]
		}
		if len(columns) > 0 {
			if len(columns[0]) != 1<<h {
				b.fail("a height of 2^%d for fixed columns of %d rows", h, len(columns[0]))
			}
			fixedSize[kind] = max(fixedSize[kind], int(h)+params.Stack)
		}
	}
	sizeOf := func(kind int) int {
		if kind >= 3 {
			return fixedSize[kind]
		}
		return size
	}
	if !slices.ContainsFunc(about.Forms, func(f Form) bool {
		for i, h := range rows {
			if f[i] != 1<<h {
				return false
			}
		}
		return true
	}) {
		b.fail("heights %d", rows)
	}
	b.t.Append("heights", heights)
	var publics []byte
	for _, p := range about.Publics {
		publics = binary.LittleEndian.AppendUint64(publics, p)
	}
	b.t.Append("publics", publics)
	for _, m := range about.Messages {
		b.t.Append("bus", []byte(m.Bus))
		b.t.Append("times", binary.LittleEndian.AppendUint64(nil, uint64(m.Times)))
		var data []byte
		for _, t := range m.Tuple {
			data = binary.LittleEndian.AppendUint64(data, t)
		}
		b.t.Append("message", data)
	}
	b.t.Append("context", about.Context)

	// What each table commits to: columns, sums, pieces; so many, and which stacks are read next.
	type part struct {
		width int
		next  map[int]bool
	}
	var kinds [5][]part
	withSums, withFixed := false, [5]bool{}
	for i, p := range s.programs {
		stack := size - rows[i]
		columns, sums := part{p.Columns, map[int]bool{}}, part{2 * len(s.groups[i]), map[int]bool{}}
		if len(s.groups[i]) > 0 {
			columns.width += masks
		}
		used := 1<<rows[i] - random
		for _, step := range p.Steps {
			if step.Op == air.Next {
				columns.next[step.Index>>stack] = true
			}
		}
		if len(s.groups[i]) > 0 {
			withSums = true
			sums.next[0], sums.next[1>>stack] = true, true
		}
		kinds[0], kinds[1] = append(kinds[0], columns), append(kinds[1], sums)
		kinds[3] = append(kinds[3], part{len(s.tables[i].Fixed), map[int]bool{}})
		kinds[4] = append(kinds[4], part{s.tables[i].Image, map[int]bool{}})
		kinds[2] = append(kinds[2], part{2 * ((s.pieces[i]<<rows[i] + random + used - 1) / used), map[int]bool{}})
	}
	domain := size + params.LogBlowup
	// Places that are folded into one have one leaf, where its elements, of eight bytes, are no longer
	// than the digests that are not sent then.
	var shared [5]int
	var caps [5][][]byte
	for kind := range caps {
		width := 0
		for i, p := range kinds[kind] {
			if p.width > 0 {
				stack := 1 << (sizeOf(kind) - rows[i])
				width += (p.width + stack - 1) / stack
			}
		}
		if kind == 2 {
			width += masks
		}
		most := min(params.LogFold, max(0, sizeOf(kind)-params.LogFinal))
		if params.ZeroKnowledge {
			most = min(most, params.Stack)
		}
		for more := 1; more <= most && 8*width*(1<<more-1) <= 32*more; more++ {
			shared[kind] = more
		}
		if kind >= 3 {
			withFixed[kind] = width > 0
		} else if kind != 1 || withSums {
			caps[kind] = b.digests(b.capOf(sizeOf(kind) + params.LogBlowup - shared[kind]))
		}
	}
	if withFixed[3] {
		var tables []textbookTable
		for i, table := range s.tables {
			tables = append(tables, textbookTable{rows[i], table.Fixed})
		}
		caps[3] = b.fixedCap(3, tables, fixedSize[3], shared[3])
	}
	if withFixed[4] {
		var tables []textbookTable
		var commitment []byte
		for i, columns := range b.image {
			tables = append(tables, textbookTable{rows[i], columns})
			if s.tables[i].Image > 0 {
				commitment = append(commitment, byte(rows[i]))
			}
		}
		caps[4] = b.fixedCap(4, tables, fixedSize[4], shared[4])
		if string(about.Image.Bytes()) != string(append(commitment, slices.Concat(caps[4]...)...)) {
			b.fail("the commitment is not that of the image")
		}
		b.absorb("image", caps[4])
	}
	b.absorb("columns", caps[0])
	gamma := b.challenge("gamma", false)
	tuple := b.equality("tuple", 1+s.longest)
	sumOf := make([]num, len(rows))
	total := scalar(0)
	for i := range rows {
		if len(s.groups[i]) > 0 {
			sumOf[i] = b.pair()
			b.t.Append("sum", encodePairs(sumOf[i:i+1]))
			total = total.plus(sumOf[i])
		}
	}
	for _, m := range about.Messages {
		d := gamma.minus(tuple[0].times(scalar(uint64(s.buses[m.Bus].number))))
		for i, t := range m.Tuple {
			d = d.minus(tuple[i+1].times(scalar(t)))
		}
		times := scalar(uint64(max(m.Times, -m.Times)))
		if m.Times < 0 {
			times = scalar(0).minus(times)
		}
		total = total.plus(times.over(d))
	}
	if !total.equals(scalar(0)) {
		b.fail("sums do not add up")
	}
	if withSums {
		b.absorb("sums", caps[1])
	}
	alpha := b.challenge("alpha", false)
	b.absorb("quotients", caps[2])
	y := b.challenge("point", true)
	var values [5][][2][]num
	for kind := range kinds {
		for i, p := range kinds[kind] {
			var v [2][]num
			var sent []num
			for column := range p.width {
				v[0] = append(v[0], b.pair())
				sent = append(sent, v[0][column])
			}
			for column := range p.width {
				v[1] = append(v[1], num{})
				if p.next[column>>(size-rows[i])] {
					v[1][column] = b.pair()
					sent = append(sent, v[1][column])
				}
			}
			if kind < 3 || withFixed[kind] {
				b.t.Append("values", encodePairs(sent))
			}
			values[kind] = append(values[kind], v)
		}
	}
	// The values are those of columns that satisfy the tables.
	for i, p := range s.programs {
		steps := air.Evaluate[num](p, textbookAlgebra{about.Publics, values[b.fixedKind(i)][i][0], values[0][i][0], values[0][i][1]})
		power := scalar(1)
		var bound [4]num
		for w := range bound {
			bound[w] = scalar(0)
		}
		for _, c := range p.Constraints {
			bound[c.Where] = bound[c.Where].plus(power.times(steps[c.Step]))
			power = power.times(alpha)
		}
		column := func(kind, which, c int) num { // over K, of two coordinates
			v := values[kind][i][which]
			x := num{new(big.Int), big.NewInt(1)}
			return v[2*c].plus(x.times(v[2*c+1]))
		}
		if groups := s.groups[i]; len(groups) > 0 {
			n := scalar(uint64(1<<rows[i] - random))
			own := column(1, 1, 0).minus(column(1, 0, 0)).plus(sumOf[i].over(n))
			for g := 1; g < len(groups); g++ {
				own = own.minus(column(1, 0, g))
			}
			for g, group := range groups {
				h := own
				if g > 0 {
					h = column(1, 0, g)
				}
				numerator, denominator := scalar(0), scalar(1)
				for _, m := range group {
					message := p.Messages[m]
					d := gamma.minus(tuple[0].times(scalar(uint64(s.buses[message.Bus].number))))
					for j, step := range message.Tuple {
						d = d.minus(tuple[j+1].times(steps[step]))
					}
					numerator = numerator.times(d).plus(steps[message.Multiplicity].times(denominator))
					denominator = denominator.times(d)
				}
				bound[0] = bound[0].plus(power.times(h.times(denominator).minus(numerator)))
				power = power.times(alpha)
			}
		}
		used := 1<<rows[i] - random
		last := y.minus(root(rows[i]).pow(uint64(used - 1)))
		zero := y.pow(1 << rows[i]).minus(scalar(1))
		for row := used; row < 1<<rows[i]; row++ {
			zero = zero.over(y.minus(root(rows[i]).pow(uint64(row))))
		}
		left := bound[air.Everywhere].plus(last.times(bound[air.Transition])).over(zero)
		left = left.plus(bound[air.First].over(y.minus(scalar(1)))).plus(bound[air.Last].over(last))
		if len(s.groups[i]) > 0 && params.ZeroKnowledge {
			d := gamma
			for j := range 2 {
				d = d.minus(tuple[1+j].times(values[0][i][0][p.Columns+j]))
			}
			ends := column(1, 0, 0).times(d).minus(scalar(1)).times(power)
			left = left.plus(ends.over(y.minus(scalar(1)).times(y.minus(root(rows[i]).pow(uint64(used))))))
		}
		right := scalar(0)
		for piece := range kinds[2][i].width / 2 {
			right = right.plus(y.pow(uint64(piece * used)).times(column(2, 0, piece)))
		}
		if !left.equals(right) {
			b.fail("table %d does not hold", i)
		}
	}
	// The words, their weights, and FRI's layers.
	type stackOf struct {
		kind, table, stack int
		next               bool
	}
	var words []stackOf
	for kind := range kinds {
		for i, p := range kinds[kind] {
			for stack := 0; p.width > 0 && stack<<(sizeOf(kind)-rows[i]) < p.width; stack++ {
				words = append(words, stackOf{kind, i, stack, false})
				if p.next[stack] {
					words = append(words, stackOf{kind, i, stack, true})
				}
			}
		}
	}
	weights := b.equality("word", len(words)+masks/2)
	var layers [][][]byte
	var folds []int
	var rs [][]num
	left := size
	for left > params.LogFinal {
		fold := min(params.LogFold, left-params.LogFinal)
		left -= fold
		layers = append(layers, b.digests(b.capOf(left+params.LogBlowup)))
		folds = append(folds, fold)
		b.absorb("layer", layers[len(layers)-1])
		var r []num
		for range fold {
			r = append(r, b.challenge("fold", false))
		}
		rs = append(rs, r)
	}
	var final []num
	for range 1 << left {
		final = append(final, b.pair())
	}
	b.t.Append("final", encodePairs(final))
	seed := b.t.Challenge("grinding seed")
	nonce := b.bytes(8)
	b.t.AppendUint64("grinding", binary.LittleEndian.Uint64(nonce))
	work := keccak.Sum256(slices.Concat(seed[:32], nonce))
	if trailing := bits.TrailingZeros64(binary.LittleEndian.Uint64(work[:])); params.Grinding > 0 && trailing < params.Grinding || params.Grinding == 0 && binary.LittleEndian.Uint64(nonce) != 0 {
		b.fail("no work")
	}
	places := map[int]bool{}
	for range params.Queries {
		raw := b.t.Challenge("place")
		places[int(binary.LittleEndian.Uint64(raw[:])%(1<<domain))] = true
	}
	sorted := func(set map[int]bool) (all []int) {
		for p := range set {
			all = append(all, p)
		}
		sort.Ints(all)
		return all
	}
	var leaves [5]map[int][]num
	for kind := range kinds {
		width := 0
		for _, w := range words {
			if w.kind == kind && !w.next {
				width++
			}
		}
		if kind == 2 {
			width += masks
		}
		if len(caps[kind]) > 0 {
			log := sizeOf(kind) - shared[kind]
			common := func(place int) int { return place>>size<<log + place%(1<<log) }
			of := map[int]bool{}
			for place := range places {
				of[common(place)] = true
			}
			opened := b.opening(caps[kind], log+params.LogBlowup, sorted(of), width<<shared[kind]+salt)
			leaves[kind] = make(map[int][]num)
			for place := range places {
				leaves[kind][place] = opened[common(place)][place%(1<<sizeOf(kind))>>log*width:][:width]
			}
		}
	}
	at := places
	log := size
	var shown []map[int][]num
	for i, fold := range folds {
		groups := map[int]bool{}
		for place := range at {
			groups[place>>log<<(log-fold)+place%(1<<(log-fold))] = true
		}
		at = groups
		log -= fold
		shown = append(shown, b.opening(layers[i], log+params.LogBlowup, sorted(at), 2<<fold))
	}
	if len(b.in) > 0 {
		b.fail("the proof goes on")
	}
	for place := range places {
		coset, i := place>>size, place%(1<<size)
		x := b.firstPoint(size).times(root(domain).pow(uint64(coset))).times(root(size).pow(uint64(i)))
		sum := scalar(0)
		column := [5]int{}
		for n, w := range words {
			if !w.next {
				column[w.kind]++
			}
			opened := leaves[w.kind][place][column[w.kind]-1]
			stack := size - rows[w.table]
			point, which := y, 0
			if w.next {
				point, which = y.times(root(rows[w.table])), 1
			}
			members := sizeOf(w.kind) - rows[w.table]
			for j := range 1 << members {
				if c := w.stack<<members + j; c < kinds[w.kind][w.table].width {
					opened = opened.minus(x.pow(reversedBits(j, stack)).times(values[w.kind][w.table][which][c]))
				}
			}
			sum = sum.plus(weights[n].times(opened).over(x.pow(1 << stack).minus(point)))
		}
		if params.ZeroKnowledge {
			hiding := leaves[2][place][column[2]:]
			sum = sum.plus(weights[len(words)].times(num{hiding[0].a, hiding[1].a}))
		}
		log, here := size, place
		for l, fold := range folds {
			coset, i := here>>log, here%(1<<log)
			group := i % (1 << (log - fold))
			here = coset<<(log-fold) + group
			leaf := shown[l][here]
			var part []num
			for j := range 1 << fold {
				part = append(part, num{leaf[2*j].a, leaf[2*j+1].a})
			}
			if !part[i>>(log-fold)].equals(sum) {
				b.fail("layer %d is not what is folded into it", l)
			}
			x := b.firstPoint(size).times(root(domain).pow(uint64(coset))).pow(1 << (size - log)).times(root(log).pow(uint64(group)))
			turn := root(fold)
			for _, r := range rs[l] {
				half := len(part) / 2
				point := x
				for j := range half {
					even := part[j].plus(part[j+half]).over(scalar(2))
					odd := part[j].minus(part[j+half]).over(scalar(2).times(point))
					part[j] = scalar(1).minus(r).times(even).plus(r.times(odd))
					point = point.times(turn)
				}
				part = part[:half]
				x, turn = x.times(x), turn.times(turn)
			}
			sum = part[0]
			log -= fold
		}
		x = x.pow(1 << (size - log))
		value := scalar(0)
		for j, c := range final {
			value = value.plus(c.times(x.pow(reversedBits(j, log))))
		}
		if !value.equals(sum) {
			b.fail("the last polynomial is not what is folded into it")
		}
	}
}

// try returns the error with which verify panics.
func (b *textbook) try(about Statement) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err, _ = r.(error)
			if err == nil {
				err = fmt.Errorf("%v", r)
			}
		}
	}()
	b.verify(about)
	return nil
}

// quiet sends no message: a, b and then b, a + b.
func quiet() *air.Table {
	return &air.Table{Name: "quiet", Columns: 2, State: func(b *air.Builder) {
		b.Zero(air.First, "a", b.Here(0).Sub(b.Public(0)))
		b.Zero(air.First, "b", b.Here(1).Plus(-1))
		b.Zero(air.Transition, "goes on", b.Next(0).Sub(b.Here(1)))
		b.Zero(air.Transition, "adds", b.Next(1).Sub(b.Here(0)).Sub(b.Here(1)))
	}}
}

// TestTextbook: the textbook's verifier and ours agree, on proofs and on what is none.
func TestTextbook(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var tops [5][][]byte // the caps over fixed columns and images, for several forms of one system
	var image [][][]uint64
	flips := 150
	agree := func(params Params, traces []Trace, about Statement, tables ...*air.Table) {
		t.Helper()
		s, err := New(Config{Goldilocks, Keccak, params}, tables...)
		must.Do(t, err)
		if image != nil {
			var contents [][][]uint64
			for _, i := range s.imaged() {
				contents = append(contents, image[i])
			}
			about.Image = must.Get(s.Image(t.Context(), executor.Serial(), contents...))(t)
		}
		proof, err := s.Prove(t.Context(), executor.Serial(), traces, about, Options{})
		must.Do(t, err)
		must.Do(t, s.Verify(proof, about))
		book := &textbook{s: s, in: proof, image: image, tops: tops}
		must.Do(t, book.try(about))
		tops = book.tops
		for range flips {
			bad := slices.Clone(proof)
			bad[random.IntN(len(bad))] ^= 1 << random.IntN(8)
			ours, theirs := s.Verify(bad, about), (&textbook{s: s, in: bad, image: image, tops: tops}).try(about)
			if ours == nil || theirs == nil {
				t.Fatalf("a flipped bit: ours %v, the textbook's %v", ours, theirs)
			}
			if !errors.Is(ours, zkbench.ErrProof) && !errors.Is(ours, zkbench.ErrMalformed) {
				t.Fatal(ours)
			}
		}
	}
	for stack := range 3 {
		params := attackParams
		params.Degree, params.Stack, params.Queries, params.Grinding = 2, stack, 4, stack
		params.LogCap = 1 + 2*stack // at last more than the last layer's leaves
		traces, about := attackTraces(nil)
		// A message that the statement sends, and another that takes it back.
		about.Messages = []Message{{"seen", 2, []uint64{5, 6}}, {"seen", -2, []uint64{5, 6}}}
		agree(params, traces, about, bitsTable(), seenTable())
	}
	for stack := range 4 {
		params := attackParams
		params.Degree, params.Stack, params.Queries, params.LogFold = 2, stack, 3, 1+stack
		traces, about := fixedTraces(nil)
		tops = [5][][]byte{}
		agree(params, traces, about, fixedTables(nil)...)
	}
	flips = 15
	for stack, wide := range []int{0, 9, 0, 5} {
		tops, image = [5][][]byte{}, nil
		params := attackParams
		params.Degree, params.Stack, params.Queries, params.LogFold = 2, stack, 3, 1+stack
		for _, form := range mixedForms {
			traces, about := mixedTraces(form, wide, nil)
			agree(params, traces, about, mixedTables(wide, nil)...)
		}
		images := [][]int{{2}, {1, 2}}[stack%2]
		tables, contents := imageTables(wide, images, nil)
		tops, image = [5][][]byte{}, make([][][]uint64, len(tables))
		for i, table := range images {
			image[table] = contents[i]
		}
		for _, form := range mixedForms[1:3] {
			traces, about := mixedTraces(form, wide, nil)
			agree(params, traces, about, tables...)
		}
	}
	image = nil
	for stack := range 3 {
		h := newHiding(t, true, stack)
		traces, about := h.traces(3)
		agree(h.params, traces, about, factors(), received())
	}
	params := attackParams
	params.Degree, params.Queries = 2, 2
	agree(params, []Trace{{Rows: 8, Fill: func(_ context.Context, _ executor.Executor, c *Cells) error {
		a, b := uint64(2), uint64(1)
		for row := range 8 {
			c.Set(row, 0, a)
			c.Set(row, 1, b)
			a, b = b, a+b
		}
		return nil
	}}}, Statement{Forms: []Form{{8}}, Publics: []uint64{2}}, quiet())
}
