package merkle_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// treeFile returns the file of a tree of three zeros: a head of 64 bytes, three digests, two, and
// the top.
func treeFile(t testing.TB) (path string, good []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tree")
	f := must.Get(buildFile(t, merkle.Shape{Rows: 3, Width: 1}, bytes.NewReader(make([]byte, 24)), path))(t)
	must.Do(t, f.Close())
	if good = must.Get(os.ReadFile(path))(t); len(good) != 64+32*6 {
		t.Fatalf("%d bytes", len(good))
	}
	return path, good
}

// put returns a copy of good with v written at byte at.
func put(good []byte, at int, v uint64) []byte {
	bad := slices.Clone(good)
	binary.LittleEndian.PutUint64(bad[at:], v)
	return bad
}

// TestOpenFile: files that are no trees, or damaged ones, are told with the place.
func TestOpenFile(t *testing.T) {
	t.Parallel()
	path, good := treeFile(t)
	refused := func(what string, bad []byte, place string, offset int) {
		t.Helper()
		must.Do(t, os.WriteFile(path, bad, 0o600))
		_, err := merkle.OpenFile(path)
		decode, ok := errors.AsType[*zkbench.DecodeError](err)
		if !ok || decode.Path != place || decode.Offset != offset || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s at byte %d", what, err, place, offset)
		}
	}
	for at := range 64 {
		bad := slices.Clone(good)
		bad[at] ^= 0x81
		offset := at
		switch {
		case at < 8:
			offset = 0 // the magic
		case at < 24:
			continue // the shape: below
		}
		refused("a byte of the head", bad, "tree.head", offset)
	}
	for _, rows := range []uint64{0, 1 << 63, 1<<64 - 1, merkle.MaxRows + 1} {
		refused("rows", put(good, 8, rows), "tree.head", 8)
	}
	for _, width := range []uint64{0, 1 << 63, 1<<64 - 1, merkle.MaxWidth + 1} {
		refused("width", put(good, 16, width), "tree.head", 8)
	}
	refused("fewer rows", put(good, 8, 2), "tree", 64+32*3)
	refused("more rows", put(good, 8, 4), "tree", len(good))
	refused("another width", put(good, 16, 2), "tree.head", 24)
	refused("empty", nil, "tree.head", 0)
	refused("the head cut", good[:40], "tree.head", 40)
	refused("the top cut", good[:len(good)-1], "tree", len(good)-1)
	refused("a byte more", append(slices.Clone(good), 0), "tree", len(good))
	refused("a top that is not canonical", put(good, len(good)-16, goldilocks.Modulus), "tree.level[2][0][2]", len(good)-16)

	must.FailGet(merkle.OpenFile(path+"s"))(t, fs.ErrNotExist, "no file")
	must.FailGet(merkle.OpenFile(filepath.Dir(path)))(t, zkbench.ErrMalformed, "a folder")
}

// TestFileDamaged: what is looked at when a path is read: a digest that is not canonical,
// one that is not there, each by the name of the file.
func TestFileDamaged(t *testing.T) {
	t.Parallel()
	path, good := treeFile(t)
	leaf := 64 + 32*1 // the digest of row 1, which is four zeros
	built := must.Get(buildFile(t, merkle.Shape{Rows: 3, Width: 1}, bytes.NewReader(make([]byte, 24)), path))(t)
	opened := must.Get(merkle.OpenFile(path))(t)
	defer opened.Close()
	must.Do(t, os.WriteFile(path, put(good, leaf+8, goldilocks.Modulus), 0o600)) // the same file: it is not replaced
	for _, test := range []struct {
		name   string
		size   int64
		place  string
		offset int
	}{
		{"not canonical", int64(len(good)), "tree.level[0][1][1]", leaf + 8},
		{"cut in the digest", int64(leaf + 5), "tree.level[0]", leaf + 5},
		{"cut before it", 64, "tree.level[0]", leaf},
	} {
		must.Do(t, os.Truncate(path, test.size))
		for name, f := range map[string]*merkle.File{"built": built, "opened": opened} {
			digests, err := f.Path(0)
			decode, ok := errors.AsType[*zkbench.DecodeError](err)
			if !ok || decode.Path != test.place || decode.Offset != test.offset || !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("%s, %s: %x, %v", test.name, name, digests, err)
			}
		}
	}
	must.FailGet(built.Root())(t, zkbench.ErrMalformed, "the root of a cut file")
}
