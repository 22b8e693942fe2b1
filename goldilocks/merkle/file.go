package merkle

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// File is a tree whose digests are in a file, for those larger than memory: a head of 64
// bytes, then the levels as Tree has them, eight bytes an element, the least significant
// first. The rows are not in it. Its methods may be called at once.
type File struct {
	shape Shape
	file  *os.File
}

// magic begins the file; its last byte is the format's number.
const magic = "zkmerkl\x01"

// headLen is the length of the head: magic, rows, width, root, zeros.
const headLen = 64

// window is how many digests, or rows of eight, are in memory at once: two megabytes.
const window = 1 << 16

// BuildFile builds the tree of a shape over rows that are read, eight bytes an element,
// the least significant first, row after row, into a file that takes the place of path
// when it is whole. Memory is bounded, whatever the shape.
//
// Rows that end early or go on, or an element that is not canonical, are a
// *zkbench.DecodeError with its place.
func BuildFile(ctx context.Context, ex executor.Executor, k goldilocks.Kernel, shape Shape, rows io.Reader, path string) (*File, error) {
	if err := shape.check(); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return nil, err
	}
	f := &File{shape, file}
	err = f.build(ctx, ex, k, rows)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return f, nil
}

func (f *File) build(ctx context.Context, ex executor.Executor, k goldilocks.Kernel, rows io.Reader) error {
	if err := f.leaves(ctx, ex, k, rows); err != nil {
		return err
	}
	for level := 1; level < f.shape.levels(); level++ {
		if err := f.level(ctx, ex, k, level); err != nil {
			return err
		}
	}
	root, err := f.Root()
	if err != nil {
		return err
	}
	_, err = f.file.WriteAt(f.shape.head(root), 0) // last: without it the file is none
	return err
}

func (s Shape) head(root poseidon.Digest) []byte {
	head := make([]byte, 0, headLen)
	head = append(head, magic...)
	head = binary.LittleEndian.AppendUint64(head, uint64(s.Rows))
	head = binary.LittleEndian.AppendUint64(head, uint64(s.Width))
	for _, e := range root {
		head = binary.LittleEndian.AppendUint64(head, uint64(e))
	}
	return head[:headLen]
}

// leaves reads the rows, a window at a time, and writes their digests.
func (f *File) leaves(ctx context.Context, ex executor.Executor, k goldilocks.Kernel, rows io.Reader) error {
	width := f.shape.Width
	many := max(window*poseidon.Rate/width, chunk) // rows in memory
	in := bufio.NewReaderSize(rows, 1<<20)
	raw := make([]byte, 8*width)
	elements := make([]goldilocks.Element, min(many, f.shape.Rows)*width)
	digests := make([]poseidon.Digest, min(many, f.shape.Rows))
	for from := 0; from < f.shape.Rows; from += many {
		n := min(many, f.shape.Rows-from)
		for i := range n {
			if _, err := io.ReadFull(in, raw); err != nil {
				if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
					return &zkbench.DecodeError{Path: fmt.Sprintf("rows[%d]", from+i), Reason: fmt.Sprintf("the rows end; there must be %d", f.shape.Rows)}
				}
				return err
			}
			for j := range width {
				e := goldilocks.Element(binary.LittleEndian.Uint64(raw[8*j:]))
				if !e.Canonical() {
					return notCanonical(from+i, j)
				}
				elements[i*width+j] = e
			}
		}
		err := inChunks(ctx, ex, n, func(a, b int) error {
			poseidon.LeavesAll(k, digests[a:b], elements[a*width:b*width], width)
			return nil
		})
		if err == nil {
			err = f.write(0, from, digests[:n])
		}
		if err != nil {
			return err
		}
	}
	if _, err := in.ReadByte(); err == nil {
		return &zkbench.DecodeError{Path: fmt.Sprintf("rows[%d]", f.shape.Rows), Reason: fmt.Sprintf("the rows go on; there must be %d", f.shape.Rows)}
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// level makes a level from the one below, a window at a time.
func (f *File) level(ctx context.Context, ex executor.Executor, k goldilocks.Kernel, level int) error {
	below := make([]poseidon.Digest, min(window, f.shape.at(level-1)))
	here := make([]poseidon.Digest, (len(below)+1)/2)
	for from := 0; from < f.shape.at(level-1); from += window {
		in := below[:min(window, f.shape.at(level-1)-from)]
		if err := f.read(level-1, from, in); err != nil {
			return err
		}
		pairs := len(in) / 2
		out := here[:(len(in)+1)/2]
		if pairs < len(out) {
			out[pairs] = in[2*pairs] // it has no sibling
		}
		err := inChunks(ctx, ex, pairs, func(a, b int) error {
			poseidon.CompressAll(k, out[a:b], in[2*a:2*b])
			return nil
		})
		if err == nil {
			err = f.write(level, from/2, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// place is where a digest of a level is in the file.
func (f *File) place(level, i int) int64 {
	return headLen + int64(f.shape.offset(level)+i)*digestBytes
}

func (f *File) write(level, from int, digests []poseidon.Digest) error {
	raw := make([]byte, 0, len(digests)*digestBytes)
	for i := range digests {
		for _, e := range digests[i] {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(e))
		}
	}
	_, err := f.file.WriteAt(raw, f.place(level, from))
	return err
}

// read reads digests of a level; one that is not canonical was not written by us.
func (f *File) read(level, from int, digests []poseidon.Digest) error {
	raw := make([]byte, len(digests)*digestBytes)
	if _, err := f.file.ReadAt(raw, f.place(level, from)); err != nil {
		return fmt.Errorf("%s: level %d: %w", f.file.Name(), level, err)
	}
	for i := range digests {
		for j := range digests[i] {
			digests[i][j] = goldilocks.Element(binary.LittleEndian.Uint64(raw[(i*poseidon.DigestLen+j)*8:]))
		}
	}
	return checkDigests(fmt.Sprintf("%s: level[%d]", f.file.Name(), level), digests)
}

// OpenFile opens a tree that BuildFile has built. A file that is none, or is cut, is a
// *zkbench.DecodeError. Of its digests only the top is looked at: paths from a damaged file
// do not verify.
func OpenFile(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &File{file: file}
	if err := f.readHead(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return f, nil
}

func (f *File) readHead() error {
	head := make([]byte, headLen)
	if _, err := f.file.ReadAt(head, 0); err != nil {
		return &zkbench.DecodeError{Path: "tree.head", Reason: err.Error()}
	}
	if !bytes.HasPrefix(head, []byte(magic)) {
		return &zkbench.DecodeError{Path: "tree.head", Reason: "not a tree of format 1"}
	}
	rows, width := binary.LittleEndian.Uint64(head[8:]), binary.LittleEndian.Uint64(head[16:])
	if rows > MaxRows || width > MaxWidth {
		return &zkbench.DecodeError{Path: "tree.head", Reason: fmt.Sprintf("%d rows of %d", rows, width)}
	}
	f.shape = Shape{int(rows), int(width)}
	if err := f.shape.check(); err != nil {
		return &zkbench.DecodeError{Path: "tree.head", Reason: fmt.Sprintf("%d rows of %d", rows, width)}
	}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if want := headLen + int64(f.shape.Nodes())*digestBytes; info.Size() != want {
		return &zkbench.DecodeError{Path: "tree", Reason: fmt.Sprintf("%d bytes; there must be %d", info.Size(), want)}
	}
	root, err := f.Root()
	if err != nil {
		return err
	}
	if !bytes.Equal(head, f.shape.head(root)) {
		return &zkbench.DecodeError{Path: "tree.head", Reason: "the root is not that of the digests"}
	}
	return nil
}

// Shape is what the tree is over.
func (f *File) Shape() Shape { return f.shape }

// Top is the plain top digest. No verifier takes it: see Root.
func (f *File) Top() (poseidon.Digest, error) {
	var top [1]poseidon.Digest
	err := f.read(f.shape.levels()-1, 0, top[:])
	return top[0], err
}

// Root is the commitment to the rows.
func (f *File) Root() (poseidon.Digest, error) {
	top, err := f.Top()
	if err != nil {
		return poseidon.Digest{}, err
	}
	return f.shape.root(top), nil
}

// Path are the siblings on the way from a row to the top, the lowest first.
func (f *File) Path(index int) ([]poseidon.Digest, error) {
	if err := f.shape.checkIndex(index); err != nil {
		return nil, err
	}
	var path []poseidon.Digest
	for level := range f.shape.levels() - 1 {
		if sibling := index>>level ^ 1; sibling < f.shape.at(level) {
			var one [1]poseidon.Digest
			if err := f.read(level, sibling, one[:]); err != nil {
				return nil, err
			}
			path = append(path, one[0])
		}
	}
	return path, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
