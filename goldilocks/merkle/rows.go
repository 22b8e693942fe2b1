package merkle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
)

// block is the number of bytes requested from a reader at once.
const block = 1 << 20

// rowReader reads the elements of a shape's rows.
type rowReader struct {
	shape Shape
	in    io.Reader
	next  int    // number of the element that is read next
	raw   []byte // a block
}

func (r *rowReader) read(ctx context.Context, elements []goldilocks.Element) error {
	for len(elements) > 0 {
		n, err := fill(ctx, r.in, r.raw[:min(len(r.raw), elementBytes*len(elements))])
		for i := range n / elementBytes {
			elements[i] = goldilocks.Element(binary.LittleEndian.Uint64(r.raw[elementBytes*i:]))
			if !elements[i].Canonical() {
				row, column := r.next/r.shape.Width, r.next%r.shape.Width
				return notCanonical(fmt.Sprintf("rows[%d][%d]", row, column), elementBytes*r.next)
			}
			r.next++
		}
		if errors.Is(err, io.EOF) {
			return r.wrong(n%elementBytes, "the rows end")
		} else if err != nil {
			return fmt.Errorf("rows[%d]: %w", r.next/r.shape.Width, err)
		}
		elements = elements[n/elementBytes:]
	}
	return nil
}

// end returns an error if anything follows the rows.
func (r *rowReader) end(ctx context.Context) error {
	switch n, err := fill(ctx, r.in, r.raw[:1]); {
	case n > 0:
		return r.wrong(0, "more follows the rows")
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("after the rows: %w", err)
	}
	return nil
}

// wrong returns the error for too few or too many rows, at a number of bytes after the last whole
// element.
func (r *rowReader) wrong(bytes int, reason string) error {
	return &zkbench.DecodeError{
		Path:   fmt.Sprintf("rows[%d]", r.next/r.shape.Width),
		Offset: elementBytes*r.next + bytes,
		Reason: fmt.Sprintf("%s; there must be %d", reason, r.shape.Rows),
	}
}

// fill reads until raw is full or an error occurs, which is io.EOF at the end. Unlike io.ReadFull
// it stops when ctx is done, and when the reader returns no bytes a hundred times in a row.
func fill(ctx context.Context, in io.Reader, raw []byte) (n int, err error) {
	for empty := 0; n < len(raw); {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		m, err := in.Read(raw[n:])
		if m < 0 || m > len(raw)-n {
			return n, fmt.Errorf("%w: the reader reports %d bytes; accepted: 0 to %d", zkbench.ErrParams, m, len(raw)-n)
		}
		n += m
		switch {
		case n == len(raw): // if there is an error too, the next Read returns it
		case err != nil:
			return n, err
		case m > 0:
			empty = 0
		case empty == 99:
			return n, io.ErrNoProgress
		default:
			empty++
		}
	}
	return n, nil
}
