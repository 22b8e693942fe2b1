package stark

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"unsafe"

	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// In zero knowledge the last rows of each table are random, and nothing is said of them. A proof shows of
// a column its values at y and g y, and others only through those at the points of queries and, in the
// quotient, of the rows next to them: they are fewer than random rows, so that all of them are uniform and
// independent of what the other rows hold. The rest
// is hidden apart: what the pieces of the quotient are at those points, by what one piece gets and the
// next one loses; sums, by random messages from each table to the next; the word that is proved near to
// a polynomial, by a random one; leaves that are not opened, by what is hashed with them. docs/stark.md has
// the argument.

// saltBytes is how much of a leaf is random: at least 128 bits are, in elements of either field.
const saltBytes = 20

// random makes elements that nobody can tell from random ones who does not know its key: AES-256 in counter
// mode.
type random[E field.Element[E], X field.Extension[E, X]] struct {
	field field.Field[E, X]
	block cipher.Block
}

// What elements are for: each use of a random has numbers of its own.
const (
	forRows = iota
	forSums
	forPieces
	forWord
	forSalt
)

// newRandom is one whose key depends on what src gives, on the statement, which a challenger has absorbed
// for this alone, and on the columns: should src repeat itself, others have another key.
func newRandom[E field.Element[E], X field.Extension[E, X]](p *prover[E, X], about challenger.Challenger[E, X], src io.Reader) (*random[E, X], error) {
	if src == nil {
		src = rand.Reader
	}
	var key [32]byte
	if _, err := io.ReadFull(src, key[:]); err != nil {
		return nil, fmt.Errorf("randomness of a proof: %w", err)
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, err
	}
	mac, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	h := sha512.New()
	h.Write(key[:])
	for range 3 { // of 124 bits or more
		for _, e := range field.Coordinates(nil, about.Challenge("randomness", false)) {
			h.Write(binary.LittleEndian.AppendUint64(nil, p.field.Word(e)))
		}
	}
	for t, columns := range p.columns {
		tags := make([][]byte, len(columns))
		err := p.ex.Do(p.ctx, len(columns), func(_ context.Context, i int) error {
			var nonce [12]byte
			binary.LittleEndian.PutUint32(nonce[:], uint32(t))
			binary.LittleEndian.PutUint32(nonce[4:], uint32(i))
			tags[i] = mac.Seal(nil, nonce[:], nil, bytesOf(columns[i][:p.layout.used(t)]))
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, tag := range tags {
			h.Write(tag)
		}
	}
	block, err = aes.NewCipher(h.Sum(nil)[:32])
	return &random[E, X]{p.field, block}, err
}

// draw sets dst to elements, each number of a purpose once.
func (r *random[E, X]) draw(dst []E, purpose, number int) {
	var iv [aes.BlockSize]byte
	binary.BigEndian.PutUint64(iv[:], uint64(purpose)<<56|uint64(number))
	stream := cipher.NewCTR(r.block, iv[:])
	f := r.field
	size, order := f.Bytes(), f.Order()
	mask := uint64(1)<<bits.Len64(order) - 1 // of 64 bits: all ones
	bytes := bytesOf(dst)
	clear(bytes)
	stream.XORKeyStream(bytes, bytes)
	for i := range dst {
		word := f.Word(dst[i]) & mask
		for word >= order {
			var more [8]byte
			stream.XORKeyStream(more[:size], more[:size])
			word = field.Read(more[:size]) & mask
		}
		dst[i] = f.OfWord(word)
	}
}

// bytesOf is the memory of elements.
func bytesOf[E any](v []E) []byte {
	var e E
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(e)))
}

// hideRows makes the last rows of all tables random, and the whole of the columns from which masks of their
// sums are taken.
func (p *prover[E, X]) hideRows() {
	l := p.layout
	number := 0
	var masked []int
	for t, columns := range p.columns {
		for i, c := range columns {
			if i < l.programs[t].Columns {
				c = c[l.used(t):]
			}
			p.random.draw(c, forRows, number)
			number++
		}
		if l.masked(t) {
			masked = append(masked, t)
		}
	}
	// The tuple with which a table's sum ends is that with which the next one's begins.
	p.masks = make([][2][]X, len(l.rows))
	for i, t := range masked {
		next := masked[(i+1)%len(masked)]
		for k := range l.masks {
			from, to := p.columns[next][l.programs[next].Columns+k], p.columns[t][l.programs[t].Columns+k]
			to[l.used(t)] = from[0]
			p.masks[t][0] = append(p.masks[t][0], embed[E, X](to[0]))
			p.masks[t][1] = append(p.masks[t][1], embed[E, X](from[0]))
		}
	}
}

// extendWord makes the word that hides the one that is proved near to a polynomial: of a random one.
func (p *prover[E, X]) extendWord() error {
	l := p.layout
	coefficients := field.NewVector[E](l.masks, 1<<l.size)
	for k, c := range coefficients {
		p.random.draw(c, forWord, k)
	}
	x, err := p.points.extend(p.ctx, p.ex, shape{l.size, 0, l.masks}, coefficients, false, len(p.points.shifts))
	p.extended[ofQuotients] = append(p.extended[ofQuotients], x)
	return err
}

// salt is what is hashed with a phase's leaves on coset c.
func (p *prover[E, X]) salt(phase, c int) (columns [][]E) {
	l := p.layout
	for k := range l.salt {
		column := make([]E, 1<<(l.size-l.shared[phase]))
		p.random.draw(column, forSalt, (phase<<l.params.LogBlowup|c)*l.salt+k)
		columns = append(columns, column)
	}
	return columns
}

// few is where quotients are known beside the cosets of H, in zero knowledge: on a coset of a small group,
// and at the points of the next rows.
type few[E field.Element[E], X field.Extension[E, X]] struct {
	log       int
	transform field.Transform[E]
	points    []E
	here      sampler[E, X]
	next      sampler[E, X]
}

// sampler gives the values of a polynomial at shift times the roots of unity of a small order.
type sampler[E field.Element[E], X field.Extension[E, X]] struct {
	field     field.Field[E, X]
	transform field.Transform[E]
	low, high []E // powers of the shift, those of multiples of the order apart
}

// fewPoints are those for all heights. Their shift is no power of two times that of a coset of H, so that they
// are on none, nor in H: its order has all of the odd part of that of the field's group, as the generator's.
func (p *prover[E, X]) fewPoints() (map[int]*few[E, X], error) {
	f, log := p.field, bits.Len(uint(p.layout.params.Random()-1))
	t, err := f.Transform(log)
	if err != nil {
		return nil, err
	}
	all := make(map[int]*few[E, X])
	for _, rows := range p.layout.rows {
		shift := f.Generator().Mul(p.points.shift(0, rows))
		at := func(shift E) sampler[E, X] {
			return sampler[E, X]{f, t, reversedPowers(log, f.New(1), shift), reversedPowers(rows-log, f.New(1), squares(shift, log))}
		}
		x := &few[E, X]{log, t, make([]E, 1<<log), at(shift), at(shift.Mul(f.Root(rows)))}
		setPowers(f, x.points, shift, f.Root(log))
		all[rows] = x
	}
	return all, nil
}

// both are the values at the points, and behind them those at the next rows'.
func (x *few[E, X]) both(coefficients []E) []E {
	values := make([]E, 2<<x.log)
	x.here.sample(values[:1<<x.log], coefficients)
	x.next.sample(values[1<<x.log:], coefficients)
	return values
}

// sample sets dst to a polynomial's values. Those of its coefficients whose numbers agree modulo dst's length
// lie together: of each such part all that is left is one coefficient.
func (s *sampler[E, X]) sample(dst, coefficients []E) {
	var x X
	parts := make([][]E, 0, len(x)) // as many as a kernel takes
	for at := 0; at < len(dst); at += len(parts) {
		parts = parts[:0]
		for i := at; i < min(at+len(x), len(dst)); i++ {
			parts = append(parts, coefficients[i*len(s.high):][:len(s.high)])
		}
		s.field.Dots(dst[at:at+len(parts)], s.high, parts)
	}
	s.field.Mul(dst, dst, s.low)
	s.transform.Evaluate(dst)
}

// hidden is the pieces of a table's quotient, coordinate by coordinate, from remainder, its remainder modulo
// X^(D n) - β in pieces of n, and its values at few points. These tell the rest u of it, of degree below
// their number: the quotient is remainder + (X^(D n) - β) u. Pieces are shorter than n, so that what hides
// one, behind its end, is taken away from the next one.
func (p *prover[E, X]) hidden(t int, remainder [][]E, beta E, values field.Vector[E]) [][]E {
	l, f := p.layout, p.field
	rows, d, x := l.rows[t], l.degree, p.points.few[l.rows[t]]
	n, used, chunks, random := 1<<rows, l.used(t), l.chunks(t), l.params.Random()
	out := make([][]E, chunks*d)
	for i := range out {
		out[i] = make([]E, n)
	}
	power := field.Power(f.New(1), x.points[0], uint64(n)) // of all points
	over := field.Power(f.New(1), power, uint64(l.pieces[t])).Sub(beta).Inverse()
	place := func(i, log int) int { return int(bits.Reverse64(uint64(i)) >> (64 - log)) }
	for k := range d {
		sum, sample := make([]E, 1<<x.log), make([]E, 1<<x.log)
		for i := l.pieces[t] - 1; i >= 0; i-- {
			x.here.sample(sample, remainder[i*d+k])
			f.MulScalar(sum, sum, power)
			f.Add(sum, sum, sample)
		}
		u := values[k]
		f.Sub(u, u, sum)
		f.MulScalar(u, u, over)
		interpolate(f, x.transform, values[k:k+1], x.points[0])
		coefficient := func(i int) (e E) {
			if i>>rows < l.pieces[t] {
				e = remainder[i>>rows*d+k][place(i&(n-1), rows)]
			}
			if i < len(u) {
				e = e.Sub(u[place(i, x.log)].Mul(beta))
			}
			if i -= l.pieces[t] << rows; i >= 0 && i < len(u) {
				e = e.Add(u[place(i, x.log)])
			}
			return e
		}
		mask := make([]E, random)
		for c := range chunks {
			piece := out[c*d+k]
			for i := range used {
				piece[place(i, rows)] = coefficient(c*used + i)
			}
			if c > 0 {
				for i, e := range mask {
					piece[place(i, rows)] = piece[place(i, rows)].Sub(e)
				}
			}
			if c < chunks-1 {
				p.random.draw(mask, forPieces, (t<<32|c)*d+k)
				for i, e := range mask {
					piece[place(used+i, rows)] = e
				}
			}
		}
	}
	return out
}
