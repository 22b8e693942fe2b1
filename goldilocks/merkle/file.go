package merkle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// File is a tree whose digests are in a file, so that the tree may be larger than memory. The rows
// are not in the file. Create a File with BuildFile or OpenFile. Its methods may be called
// concurrently.
//
// The file has a head of 64 bytes and then the levels of digests, from the leaves to the top. An
// element takes eight bytes, the least significant first.
type File struct {
	shape Shape
	file  *os.File
}

// magic starts the file. Its last byte is the format's number.
const magic = "zkmerkl\x01"

// headLen is the length of the head: magic, rows, width, root, zeros.
const headLen = 64

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

// OpenFile opens a tree that BuildFile wrote. If the file does not hold such a tree, or if its
// length is wrong for the tree, the error is of type *zkbench.DecodeError. OpenFile reads only the
// head and the top digest, so it does not notice damage elsewhere. Paths that contain damaged
// digests do not verify.
func OpenFile(path string) (*File, error) {
	// Before it is opened: a pipe would wait for a writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, malformed(path, "tree", 0, "not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &File{file: file}
	if err := f.readHead(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func (f *File) readHead() error {
	name := f.file.Name()
	head := make([]byte, headLen)
	if n, err := f.file.ReadAt(head, 0); errors.Is(err, io.EOF) {
		return malformed(name, "tree.head", int64(n), "the file ends")
	} else if err != nil {
		return err
	}
	if !bytes.HasPrefix(head, []byte(magic)) {
		return malformed(name, "tree.head", 0, "not a tree of format 1")
	}
	rows, width := binary.LittleEndian.Uint64(head[8:]), binary.LittleEndian.Uint64(head[16:])
	f.shape = Shape{int(rows), int(width)} // if an int cuts them, the head below differs
	if err := f.shape.Check(); err != nil {
		return malformed(name, "tree.head", int64(len(magic)), fmt.Sprintf("%d rows of %d", rows, width))
	}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if want := f.place(f.shape.Levels(), 0); info.Size() != want {
		return malformed(name, "tree", min(info.Size(), want), fmt.Sprintf("%d bytes; there must be %d", info.Size(), want))
	}
	root, err := f.Root()
	if err != nil {
		return err
	}
	for i, b := range f.shape.head(root) {
		if head[i] != b {
			return malformed(name, "tree.head", int64(i), "not the head of these digests")
		}
	}
	return nil
}

// malformed returns the error for a file that is not a tree.
func malformed(name, path string, offset int64, reason string) error {
	return fmt.Errorf("%s: %w", name, &zkbench.DecodeError{Path: path, Offset: int(offset), Reason: reason})
}

// place returns the position of a level's digest in the file.
func (f *File) place(level, i int) int64 {
	return headLen + int64(f.shape.offset(level)+i)*digestBytes
}

// read reads digests of a level. It refuses elements that are not canonical, which BuildFile never
// writes.
func (f *File) read(level, from int, digests []poseidon.Digest) error {
	raw, place := make([]byte, len(digests)*digestBytes), f.place(level, from)
	if n, err := f.file.ReadAt(raw, place); errors.Is(err, io.EOF) {
		return malformed(f.file.Name(), fmt.Sprintf("tree.level[%d]", level), place+int64(n), "the file ends")
	} else if err != nil {
		return err
	}
	for i := range digests {
		for j := range digests[i] {
			at := digestBytes*i + elementBytes*j
			digests[i][j] = goldilocks.Element(binary.LittleEndian.Uint64(raw[at:]))
			if !digests[i][j].Canonical() {
				return malformed(f.file.Name(), fmt.Sprintf("tree.level[%d][%d][%d]", level, from+i, j), place+int64(at), "not below the modulus")
			}
		}
	}
	return nil
}

// Shape returns the number and the width of the tree's rows.
func (f *File) Shape() Shape { return f.shape }

// Top returns the digest at the top of the tree. It is not a commitment, and verifiers do not
// accept it: they need Root.
func (f *File) Top() (poseidon.Digest, error) {
	var top [1]poseidon.Digest
	err := f.read(f.shape.Levels()-1, 0, top[:])
	return top[0], err
}

// Root returns the commitment to the rows.
func (f *File) Root() (poseidon.Digest, error) {
	top, err := f.Top()
	if err != nil {
		return poseidon.Digest{}, err
	}
	return f.shape.Root(top), nil
}

// Path returns the siblings on the way from a row to the top, the lowest first. It returns
// ErrParams if there is no row with this index. If digests are missing or not canonical, the error
// is of type *zkbench.DecodeError.
func (f *File) Path(index int) ([]poseidon.Digest, error) {
	if err := f.shape.checkIndex(index); err != nil {
		return nil, err
	}
	var path []poseidon.Digest
	for level := range f.shape.Levels() - 1 {
		if sibling := index>>level ^ 1; sibling < f.shape.nodesAt(level) {
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
