package merkle_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// encode returns elements in the form that BuildFile reads.
func encode(elements []goldilocks.Element) []byte {
	raw := make([]byte, 0, 8*len(elements))
	for _, e := range elements {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(e))
	}
	return raw
}

// buildFile builds the tree of a shape into path.
func buildFile(t testing.TB, shape merkle.Shape, rows io.Reader, path string) (*merkle.File, error) {
	t.Helper()
	f, err := merkle.BuildFile(t.Context(), executor.Pool(), shape, rows, path)
	if err == nil {
		t.Cleanup(func() { f.Close() })
	}
	return f, err
}

// nothingLeft checks that a folder is empty.
func nothingLeft(t *testing.T, folder string) {
	t.Helper()
	golden.Equal(t, "files that are left", 0, len(must.Get(os.ReadDir(folder))(t)))
}

// TestFile: a tree in a file is the tree in memory, also where it takes several windows,
// and where readers give little at once.
func TestFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		shape merkle.Shape
		rows  func(io.Reader) io.Reader
	}{
		{merkle.Shape{Rows: 1, Width: 1}, iotest.DataErrReader},
		{merkle.Shape{Rows: 2, Width: 8}, iotest.OneByteReader},
		{merkle.Shape{Rows: 7, Width: 3}, iotest.HalfReader},
		{merkle.Shape{Rows: 1000, Width: 13}, iotest.DataErrReader},
		{merkle.Shape{Rows: 1<<17 + 3, Width: 8}, iotest.HalfReader},
		{merkle.Shape{Rows: 3, Width: 300_000}, iotest.DataErrReader}, // one at a time, in blocks
	} {
		shape := test.shape
		rows := numbered(shape.Rows * shape.Width)
		path := filepath.Join(t.TempDir(), "tree")
		f := must.Get(buildFile(t, shape, test.rows(bytes.NewReader(encode(rows))), path))(t)
		must.Do(t, f.Close())
		f = must.Get(merkle.OpenFile(path))(t)
		tree := build(t, goldilocks.Kernel{}, shape)
		if root, err := f.Root(); err != nil || root != tree.Root() || f.Shape() != shape {
			t.Errorf("%v: root %x, error %v", shape, root, err)
		}
		for _, i := range []int{0, shape.Rows / 2, shape.Rows - 1} {
			got, err := f.Path(i)
			want, _ := tree.Path(i)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v: path of %d differs, error %v", shape, i, err)
			}
		}
		for _, i := range []int{-1, shape.Rows} {
			must.FailGet(f.Path(i))(t, zkbench.ErrParams, "%v: path of %d", shape, i)
		}
		must.Do(t, f.Close())
		golden.Equal(t, fmt.Sprintf("%v: files", shape), 1, len(must.Get(os.ReadDir(filepath.Dir(path)))(t)))
	}
}

// TestBuildFileRefuses: shapes and rows of which no file is built, and none is left.
func TestBuildFileRefuses(t *testing.T) {
	t.Parallel()
	gone := errors.New("the disk is gone")
	two := merkle.Shape{Rows: 2, Width: 3}
	good := encode(numbered(6))
	bad := encode(append(make([]goldilocks.Element, 4), goldilocks.Modulus, 0))
	for _, test := range []struct {
		name  string
		shape merkle.Shape
		rows  io.Reader
		want  error
		text  string
	}{
		{"no rows", merkle.Shape{Rows: 0, Width: 1}, bytes.NewReader(nil), zkbench.ErrParams, "rows: 0"},
		{"no width", merkle.Shape{Rows: 1, Width: 0}, bytes.NewReader(nil), zkbench.ErrParams, "width: 0"},
		{"too wide", merkle.Shape{Rows: 1, Width: merkle.MaxWidth + 1}, bytes.NewReader(make([]byte, 8*(merkle.MaxWidth+1))), zkbench.ErrParams, "width: 1048577"},
		{"no reader", two, nil, zkbench.ErrParams, "no reader"},
		{"empty", two, bytes.NewReader(nil), zkbench.ErrMalformed, "rows[0] at byte 0: the rows end; there must be 2"},
		{"a row less", two, bytes.NewReader(good[:24]), zkbench.ErrMalformed, "rows[1] at byte 24: the rows end"},
		{"a byte less", two, bytes.NewReader(good[:47]), zkbench.ErrMalformed, "rows[1] at byte 47: the rows end"},
		{"a byte more", two, bytes.NewReader(append(slices.Clone(good), 0)), zkbench.ErrMalformed, "rows[2] at byte 48: more follows the rows"},
		{"not canonical", two, bytes.NewReader(bad), zkbench.ErrMalformed, "rows[1][1] at byte 32: not below the modulus"},
		{"error at first", two, iotest.ErrReader(gone), gone, "rows[0]: "},
		{"error in a row", two, io.MultiReader(bytes.NewReader(good[:30]), iotest.ErrReader(gone)), gone, "rows[1]: "},
		{"error after the rows", two, io.MultiReader(bytes.NewReader(good), iotest.ErrReader(gone)), gone, "after the rows: "},
		{"nothing is read", two, silent{}, io.ErrNoProgress, "rows[0]: "},
		{"more than was asked for", two, reports(1 << 30), zkbench.ErrParams, "rows[0]: "},
		{"less than nothing", two, reports(-1), zkbench.ErrParams, "rows[0]: "},
		{"more than was asked for after the rows", two, io.MultiReader(bytes.NewReader(good), reports(2)), zkbench.ErrParams, "after the rows: "},
		{"nothing after the rows", two, io.MultiReader(bytes.NewReader(good), silent{}), io.ErrNoProgress, "after the rows: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			f, err := buildFile(t, test.shape, test.rows, filepath.Join(folder, "tree"))
			if f != nil || !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%v, want %s", err, test.text)
			}
			nothingLeft(t, folder)
		})
	}
}

// silent is a reader that reads nothing.
type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

// reader implements io.Reader by a function.
type reader func([]byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// reports returns a reader that reports n bytes, whatever was requested.
func reports(n int) reader { return func([]byte) (int, error) { return n, nil } }

// TestBuildFilePlace: the place of an element that is not canonical, past the first window
// and the first block.
func TestBuildFilePlace(t *testing.T) {
	t.Parallel()
	const at = 70_000*3 + 2
	raw := make([]byte, 8*3*80_000)
	binary.LittleEndian.PutUint64(raw[8*at:], goldilocks.Modulus)
	_, err := buildFile(t, merkle.Shape{Rows: 80_000, Width: 3}, bytes.NewReader(raw), filepath.Join(t.TempDir(), "tree"))
	decode, ok := errors.AsType[*zkbench.DecodeError](err)
	if !ok || decode.Path != "rows[70000][2]" || decode.Offset != 8*at {
		t.Error(err)
	}
}

// TestBuildFilePatience: a reader may read nothing ninety-nine times before each byte.
func TestBuildFilePatience(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		silences int
		want     error
	}{{99, nil}, {100, io.ErrNoProgress}} {
		silent := 0
		slow := reader(func(p []byte) (int, error) {
			if silent < test.silences {
				silent++
				return 0, nil
			}
			silent = 0
			p[0] = 0
			return 1, nil
		})
		_, err := buildFile(t, merkle.Shape{Rows: 2, Width: 1}, io.LimitReader(slow, 16), filepath.Join(t.TempDir(), "tree"))
		must.Fail(t, err, test.want, "%d silences", test.silences)
	}
}

// TestBuildFileCancelled: no more is read when the context is done.
func TestBuildFileCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough, reads := errors.New("enough"), 0
	zeros := reader(func(p []byte) (int, error) {
		if reads++; reads == 2 {
			cancel(enough)
		}
		clear(p)
		return min(len(p), 8), nil
	})
	folder := t.TempDir()
	_, err := merkle.BuildFile(ctx, executor.Pool(), merkle.Shape{Rows: 1000, Width: 8}, zeros, filepath.Join(folder, "tree"))
	if !errors.Is(err, enough) || reads != 2 {
		t.Errorf("%d reads, error %v", reads, err)
	}
	nothingLeft(t, folder)
}

// TestBuildFilePanics: a reader's panic goes on, and leaves nothing.
func TestBuildFilePanics(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	defer func() {
		if r := recover(); r != "no rows" {
			t.Errorf("panic: %v", r)
		}
		nothingLeft(t, folder)
	}()
	_, err := buildFile(t, merkle.Shape{Rows: 2, Width: 3}, reader(func([]byte) (int, error) { panic("no rows") }), filepath.Join(folder, "tree"))
	t.Errorf("no panic; error %v", err)
}

// TestBuildFileReplaces: a file is replaced when the new one is whole, and not before.
func TestBuildFileReplaces(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "tree")
	must.Get(buildFile(t, merkle.Shape{Rows: 1, Width: 1}, bytes.NewReader(make([]byte, 8)), path))(t)
	next := merkle.Shape{Rows: 3, Width: 1}
	for _, test := range []struct {
		bytes int
		rows  int
	}{{23, 1}, {24, 3}} {
		_, wrong := buildFile(t, next, bytes.NewReader(make([]byte, test.bytes)), path)
		f := must.Get(merkle.OpenFile(path))(t)
		golden.Equal(t, fmt.Sprintf("rows of a tree of %d bytes (%v)", test.bytes, wrong), test.rows, f.Shape().Rows)
		must.Do(t, f.Close())
	}
	must.FailGet(buildFile(t, next, bytes.NewReader(make([]byte, 24)), folder))(t, must.ErrAny, "a folder in its place")
	golden.Equal(t, "files that are left", []string{folder}, must.Get(filepath.Glob(folder+"*"))(t))
}
