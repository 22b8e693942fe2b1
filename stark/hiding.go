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

// In zero knowledge, the last rows of each table are random, and no constraint applies to them. A proof
// reveals a column's values at y and g y. It depends on other values only at the points of queries and,
// through the quotient, at the points of the rows next to them. These are fewer than the random rows, so all
// of them are uniform and independent of what the other rows hold. The rest is hidden separately. The pieces
// of the quotient are hidden by random coefficients that one piece gains and the next one loses. Sums are
// hidden by random messages from each table to the next. The codeword that is proved to be near a polynomial
// is hidden by a random one. Leaves that are not opened are hidden by what is hashed with them. docs/stark.md
// has the argument.

// saltBytes is the length of a leaf's random part. At least 128 bits of it are random, in elements of either
// field.
const saltBytes = 20

// random generates elements that cannot be told from random ones without its key, by AES-256 in counter mode.
type random[E field.Element[E], X field.Extension[E, X]] struct {
	field field.Field[E, X]
	block cipher.Block
}

// What random elements are for. Each purpose has its own numbers.
const (
	forRows = iota
	forSums
	forPieces
	forWord
	forSalt
)

// newRandom returns a random whose key depends on the bytes of src, on the statement, which the challenger
// about has absorbed for this alone, and on the columns. If src repeats itself, other statements or columns
// still get another key.
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
	for range 3 { // challenges of 124 bits or more
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

// draw fills dst with random elements. Each number of a purpose must be used only once.
func (r *random[E, X]) draw(dst []E, purpose, number int) {
	var iv [aes.BlockSize]byte
	binary.BigEndian.PutUint64(iv[:], uint64(purpose)<<56|uint64(number))
	stream := cipher.NewCTR(r.block, iv[:])
	f := r.field
	size, order := f.Bytes(), f.Order()
	mask := uint64(1)<<bits.Len64(order) - 1 // all ones if the order has 64 bits
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

// bytesOf returns the memory of elements as bytes.
func bytesOf[E any](v []E) []byte {
	var e E
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(e)))
}

// hideRows makes the last rows of all tables random. It also fills all rows of the columns from which the
// masks of sums are taken.
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
	// The tuple with which a table's sum ends is that with which the next table's sum begins.
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

// extendWord makes the random codeword that hides the batched one.
func (p *prover[E, X]) extendWord() error {
	l := p.layout
	coefficients := p.points.memory.vector(l.masks, 1<<l.size)
	for k, c := range coefficients {
		p.random.draw(c, forWord, k)
	}
	x, err := p.points.extend(p.ctx, p.ex, shape{l.size, 0, l.masks}, coefficients, false, holdAll)
	p.extended[ofQuotients] = append(p.extended[ofQuotients], x)
	return err
}

// salt returns what is hashed with a phase's leaves on coset c.
func (p *prover[E, X]) salt(phase, c int) (columns [][]E) {
	l := p.layout
	for k := range l.salt {
		column := p.points.memory.elements(1 << l.leaves(phase))
		p.random.draw(column, forSalt, (phase<<l.params.LogBlowup|c)*l.salt+k)
		columns = append(columns, column)
	}
	return columns
}

// few says where quotients are known besides the cosets of H, in zero knowledge: on a coset of a small group,
// and at the points of the next rows.
type few[E field.Element[E], X field.Extension[E, X]] struct {
	log       int
	transform field.Transform[E]
	points    []E
	here      sampler[E, X]
	next      sampler[E, X]
}

// sampler evaluates a polynomial at shift times the roots of unity of a small order.
type sampler[E field.Element[E], X field.Extension[E, X]] struct {
	field     field.Field[E, X]
	transform field.Transform[E]
	low, high []E // powers of the shift below the order, and its powers by multiples of the order
}

// fewPoints returns few for each height. Its shift, divided by the shift of a coset of H, is the generator
// times a root of unity whose order is a power of two. The generator's order is not a power of two, so the
// points are on no coset of H. Nor are they in H, because the order of the shift is not a power of two
// either.
func (p *prover[E, X]) fewPoints() (map[int]*few[E, X], error) {
	f, log := p.field, bits.Len(uint(p.layout.params.Random()-1))
	t, err := p.points.transform(log)
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

// both returns the values at the points, followed by those at the points of the next rows.
func (x *few[E, X]) both(coefficients []E) []E {
	values := make([]E, 2<<x.log)
	x.here.sample(values[:1<<x.log], coefficients)
	x.next.sample(values[1<<x.log:], coefficients)
	return values
}

// sample sets dst to a polynomial's values. The coefficients whose numbers agree modulo dst's length are
// adjacent, and each such group is reduced to one coefficient.
func (s *sampler[E, X]) sample(dst, coefficients []E) {
	var x X
	parts := make([][]E, 0, len(x)) // the number that a kernel takes
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

// hidden returns the pieces of a table's quotient, coordinate by coordinate. It takes the quotient's
// remainder modulo X^(D n) - β, in pieces of n coefficients, and the quotient's values at few points. These
// determine a polynomial u, of degree below their number, with quotient = remainder + (X^(D n) - β) u. Pieces
// are shorter than n: the random coefficients that hide a piece follow its end and are subtracted from the
// next one.
func (p *prover[E, X]) hidden(t int, remainder [][]E, beta E, values field.Vector[E]) [][]E {
	l, f := p.layout, p.field
	rows, d, x := l.rows[t], l.degree, p.points.few[l.rows[t]]
	n, used, chunks, random := 1<<rows, l.used(t), l.chunks(t), l.params.Random()
	out := make([][]E, chunks*d)
	for i := range out {
		out[i] = make([]E, n)
	}
	power := field.Power(f.New(1), x.points[0], uint64(n)) // the same for all points
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
