package stark

import (
	"context"
	"crypto/sha512"
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// An image is fixed columns of a statement: a program, for example, that the tables of one system run. Its tree is
// like that of a system's fixed columns. Its cap is in the statement, and a verifier absorbs it with the rest of the
// statement, before any challenge. So one system, and one circuit of its verifier, serves all images.
//
// Nothing is known about a cap that somebody else names: behind it there may be no columns at all. The verifier
// tests the image's words with all others, so a proof shows that it is near words of columns, and that these have
// the opened values.

// Image is the contents of all tables that have an image (air.Table), or a commitment to them. It belongs to one
// system. An Image does not change, and several proofs can use it at once.
type Image struct {
	system   [sha512.Size]byte // the system's digest
	rows     []int             // logarithm of the height of each table that has an image
	top      []tree.Digest
	contents any // *fixed[E]; nil if only the commitment is known
}

// Bytes returns the encoding of the image's commitment, which System.DecodeImage decodes: the logarithm of the height
// of each table with an image, a byte each, and a cap.
func (i *Image) Bytes() []byte {
	b := heightBytes(i.rows)
	for _, d := range i.top {
		b = d.Append(b)
	}
	return b
}

// Heights returns the heights of the tables that have an image, in the order of the tables.
func (i *Image) Heights() []int { return formOf(i.rows) }

// Image returns the image with the given contents and commits to them. For each table with an image, in the order of
// the tables, it takes the columns, which hold numbers below the field's order. All columns of a table have the
// same length, a power of two of at least 2, which is then the table's height. Image returns zkbench.ErrParams if
// the contents do not fit the tables, or if no table has an image.
func (s *System) Image(ctx context.Context, ex executor.Executor, contents ...[][]uint64) (*Image, error) {
	tables := s.imaged()
	if len(tables) == 0 {
		return nil, fmt.Errorf("%w: no table has an image", zkbench.ErrParams)
	}
	if len(contents) != len(tables) {
		return nil, fmt.Errorf("%w: contents of %d tables, accepted are those of the %d with an image", zkbench.ErrParams, len(contents), len(tables))
	}
	for i, columns := range contents {
		if t := s.tables[tables[i]]; len(columns) != t.Image {
			return nil, fmt.Errorf("%w: table %q: %d image columns, accepted are %d", zkbench.ErrParams, t.Name, len(columns), t.Image)
		}
		for j, c := range columns {
			if n := len(c); n < 2 || n&(n-1) != 0 || n != len(columns[0]) {
				return nil, fmt.Errorf("%w: table %q: image column %d has %d rows, accepted is one power of two for all, at least 2", zkbench.ErrParams, s.tables[tables[i]].Name, j, n)
			}
		}
	}
	return s.engine.image(ctx, ex, s.statement, contents)
}

// DecodeImage decodes the commitment to an image of the system. Verify accepts such an image in a statement, Prove
// and Check do not, because its contents are not known. DecodeImage returns a *zkbench.DecodeError if there is no
// such commitment. Not every commitment has contents.
func (s *System) DecodeImage(encoded []byte) (*Image, error) {
	return s.engine.decodeImage(s.statement, encoded)
}

// least returns the least heights with which an image can be committed to, given those of the image's tables. The
// commitment does not depend on other tables' heights.
func (s *statement) least(image []int) []int {
	rows := make([]int, len(s.tables))
	for t, fixed := range s.fixed {
		rows[t] = max(1, fixed)
	}
	for i, t := range s.imaged() {
		if i < len(image) {
			rows[t] = image[i]
		}
	}
	return rows
}

func (y *system[E, X]) image(ctx context.Context, ex executor.Executor, s *statement, contents [][][]uint64) (*Image, error) {
	i := &Image{system: s.digest}
	all := make([][][]uint64, len(s.tables))
	for at, t := range s.imaged() {
		all[t], i.rows = contents[at], append(i.rows, bits.TrailingZeros(uint(len(contents[at][0]))))
	}
	of, err := y.commitFixed(ctx, ex, s, ofImage, s.least(i.rows), all)
	if err != nil {
		return nil, err
	}
	i.top, i.contents = of.top, of
	return i, nil
}

func (y *system[E, X]) decodeImage(s *statement, encoded []byte) (*Image, error) {
	i := &Image{system: s.digest}
	c := &coder[E, X]{field: y.field, digest: y.canonical, in: encoded, read: true}
	tables := s.imaged()
	if c.heights(&i.rows, len(tables)); c.err != nil {
		return nil, c.err
	}
	if len(tables) == 0 {
		c.fail("heights", "no table has an image")
		return nil, c.err
	}
	l, err := y.layout(s, s.least(i.rows))
	if err != nil {
		return nil, &zkbench.DecodeError{Path: "heights", Reason: err.Error()}
	}
	c.digests("cap", &i.top, l.capOf(l.depth(ofImage)))
	c.end()
	if c.err != nil {
		return nil, c.err
	}
	return i, nil
}

// checkImage refuses a statement whose image is not one of the system, or not of the forms' heights.
func (s *statement) checkImage(about *Statement) error {
	image, tables := about.Image, s.imaged()
	switch {
	case image == nil && len(tables) == 0:
		return nil
	case image == nil:
		return fmt.Errorf("%w: the statement has no image, table %q needs one", zkbench.ErrParams, s.tables[tables[0]].Name)
	case image.system != s.digest:
		return fmt.Errorf("%w: the statement's image is not of this system", zkbench.ErrParams)
	}
	for i, t := range tables {
		for _, f := range about.Forms {
			if f[t] != 1<<image.rows[i] {
				return fmt.Errorf("%w: form: table %q of %d rows, accepted are the %d of its image", zkbench.ErrParams, s.tables[t].Name, f[t], 1<<image.rows[i])
			}
		}
	}
	return nil
}

// imageOf returns the contents of a statement's image, which checkImage has accepted.
func (y *system[E, X]) imageOf(s *statement, image *Image) (*fixed[E], error) {
	if image == nil {
		return noFixed[E](s), nil
	}
	of, ok := image.contents.(*fixed[E])
	if !ok {
		return nil, fmt.Errorf("%w: the contents of the statement's image are not known, accepted is what System.Image returns", zkbench.ErrParams)
	}
	return of, nil
}
