package stark

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// A proof is encoded as its parts in the order of type proof. The statement and the heights decide the length
// of each part. Heights take a byte, digests 32, the nonce 8, and elements as many as in memory. A path's
// length follows from the positions, which follow from everything before them. It precedes the path, in two
// bytes.

// encode returns the encoding of the prover's proof.
func (p *prover[E, X]) encode() []byte {
	c := &coder[E, X]{field: p.field, layout: p.layout, out: make([]byte, 0, p.length())}
	c.heights(&p.proof.rows, len(p.proof.rows))
	c.body(p.proof)
	return c.out
}

// length estimates the length of the encoding: values, and what queries open.
func (p *prover[E, X]) length() (n int) {
	rows := func(rows [][]E, path []tree.Digest) {
		for _, row := range rows {
			n += len(row) * p.field.Bytes()
		}
		n += len(path) * tree.DigestBytes
	}
	for phase, shapes := range p.layout.phases {
		rows(p.proof.leaves[phase], p.proof.paths[phase])
		for _, s := range shapes {
			n += 2 * s.width * p.layout.degree * p.field.Bytes()
		}
	}
	for i, fold := range p.proof.fri.folds {
		rows(fold, p.proof.fri.routes[i])
	}
	return n
}

// coder writes or reads a proof, so that the order of its parts is defined only once.
type coder[E field.Element[E], X field.Extension[E, X]] struct {
	field  field.Field[E, X]
	digest func(tree.Digest) bool // reports whether the hash can give a digest
	layout *layout
	out    []byte // what is written
	in     []byte // what is left to read
	read   bool
	at     int
	err    error
}

func (c *coder[E, X]) fail(path, reason string) {
	if c.err == nil {
		c.err = &zkbench.DecodeError{Path: path, Offset: c.at, Reason: reason}
	}
}

// take returns the next n bytes, or nil after an error.
func (c *coder[E, X]) take(path string, n int) []byte {
	if c.err == nil && len(c.in) < n {
		c.fail(path, fmt.Sprintf("%d bytes are left, %d are needed", len(c.in), n))
	}
	if c.err != nil {
		return nil
	}
	b := c.in[:n]
	c.in, c.at = c.in[n:], c.at+n
	return b
}

func (c *coder[E, X]) elements(path string, all []E) {
	size := c.field.Bytes()
	if !c.read {
		for _, e := range all {
			c.out = field.Append(c.out, c.field.Word(e), size)
		}
		return
	}
	b := c.take(path, len(all)*size)
	if b == nil {
		return
	}
	for i := range all {
		if all[i] = c.field.OfWord(field.Read(b[i*size:][:size])); !all[i].Canonical() {
			c.at -= len(b) - i*size
			c.fail(path, "not below the field's order")
			return
		}
	}
}

func (c *coder[E, X]) extension(path string, x *X) {
	c.elements(path, field.Flat[E](unsafe.Slice(x, 1)))
}

func (c *coder[E, X]) digests(path string, d *[]tree.Digest, n int) {
	if c.read {
		// No more is allocated than the input has bytes for.
		if c.err == nil && len(c.in) < n*tree.DigestBytes {
			c.fail(path, fmt.Sprintf("%d digests do not fit in the remaining bytes", n))
		}
		if c.err != nil {
			return
		}
		*d = make([]tree.Digest, n)
	}
	for i := range *d {
		if !c.read {
			c.out = (*d)[i].Append(c.out)
			continue
		}
		b := c.take(path, tree.DigestBytes)
		for w := range (*d)[i] {
			(*d)[i][w] = binary.LittleEndian.Uint64(b[8*w:])
		}
		if !c.digest((*d)[i]) {
			c.at -= len(b)
			c.fail(path, "the hash cannot give this digest")
			return
		}
	}
}

func (c *coder[E, X]) path(path string, d *[]tree.Digest) {
	n := len(*d)
	if !c.read {
		c.out = binary.LittleEndian.AppendUint16(c.out, uint16(n))
	} else if b := c.take(path, 2); b != nil {
		n = int(binary.LittleEndian.Uint16(b))
	}
	c.digests(path, d, n)
}

// rows codes at most most rows of elements. Their number precedes them, in two bytes.
func (c *coder[E, X]) rows(path string, rows *[][]E, width, most int) {
	n := len(*rows)
	if !c.read {
		c.out = binary.LittleEndian.AppendUint16(c.out, uint16(n))
	} else if b := c.take(path, 2); b != nil {
		n = int(binary.LittleEndian.Uint16(b))
		if n > most || len(c.in) < n*width*c.field.Bytes() {
			c.at -= len(b)
			c.fail(path, fmt.Sprintf("%d rows, accepted are at most %d that fit in the remaining bytes", n, most))
			return
		}
		*rows = make([][]E, n)
		for i := range *rows {
			(*rows)[i] = make([]E, width)
		}
	}
	for _, row := range *rows {
		c.elements(path, row)
	}
}

// heights codes the heights of the given number of tables.
func (c *coder[E, X]) heights(rows *[]int, tables int) {
	if !c.read {
		for _, r := range *rows {
			c.out = append(c.out, byte(r))
		}
		return
	}
	*rows = nil
	for _, b := range c.take("heights", tables) {
		*rows = append(*rows, int(b))
	}
}

// body codes everything except the heights.
func (c *coder[E, X]) body(p *proof[E, X]) {
	l := c.layout
	for phase, name := range phaseNames {
		if l.leaf(phase) > 0 && phase < ofFixed {
			c.digests("caps."+name, &p.caps[phase], l.capOf(l.depth(phase)))
		}
	}
	if c.read {
		for _, g := range l.groups {
			if len(g) > 0 {
				var zero X
				p.sums = append(p.sums, zero)
			}
		}
	}
	for i := range p.sums {
		c.extension("sums", &p.sums[i])
	}
	for phase, name := range phaseNames {
		for t, s := range l.phases[phase] {
			if c.read {
				p.values[phase] = append(p.values[phase], [2][]X{make([]X, s.width), make([]X, s.width)})
			}
			for which, values := range p.values[phase][t] {
				for i := range values {
					if which == 0 || l.next[phase][t][i>>s.stack] {
						c.extension("values."+name, &values[i])
					}
				}
			}
		}
	}
	c.friMessages(&p.fri)
	for phase, name := range phaseNames {
		if l.leaf(phase) > 0 {
			c.rows("leaves."+name, &p.leaves[phase], l.shown(phase), l.params.Queries)
			c.path("paths."+name, &p.paths[phase])
		}
	}
	c.friQueries(&p.fri)
	c.end()
}

// end refuses bytes that are left.
func (c *coder[E, X]) end() {
	if c.read && len(c.in) > 0 {
		c.fail("end", fmt.Sprintf("%d bytes too many", len(c.in)))
	}
}

// friMessages codes what FRI sends before its queries, and the nonce.
func (c *coder[E, X]) friMessages(p *friProof[E, X]) {
	l := c.layout
	if c.read {
		p.layers = make([][]tree.Digest, len(l.folds))
		p.folds = make([][][]E, len(l.folds))
		p.routes = make([][]tree.Digest, len(l.folds))
		p.final = make([]X, 1<<l.final())
	}
	log := l.size + l.params.LogBlowup
	for i, fold := range l.folds {
		log -= fold
		c.digests(fmt.Sprintf("layers[%d]", i), &p.layers[i], l.capOf(log))
	}
	for i := range p.final {
		c.extension("final", &p.final[i])
	}
	if !c.read {
		c.out = binary.LittleEndian.AppendUint64(c.out, p.nonce)
	} else if b := c.take("nonce", 8); b != nil {
		p.nonce = binary.LittleEndian.Uint64(b)
	}
}

// friQueries codes what FRI opens for its queries.
func (c *coder[E, X]) friQueries(p *friProof[E, X]) {
	l := c.layout
	for i, fold := range l.folds {
		c.rows(fmt.Sprintf("folds[%d]", i), &p.folds[i], l.degree<<fold, l.params.Queries)
		c.path(fmt.Sprintf("routes[%d]", i), &p.routes[i])
	}
}

var phaseNames = [phases]string{"columns", "sums", "quotients", "fixed", "image"}
