package merkle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/internal/sys/memory"
)

// window is the number of digests in memory at once, which take two megabytes. It is also the
// number of rows if they have up to eight elements, which take four megabytes. Wider rows are
// fewer.
const window = 1 << 16

// rowsAtOnce returns the number of rows in memory at once. One row of MaxWidth takes eight
// megabytes.
func (s Shape) rowsAtOnce() int {
	return min(s.Rows, max(window*poseidon.Rate/max(s.Width, poseidon.Rate), 1))
}

// windowBytes returns the memory that BuildFile takes at once: the rows and their bytes, then
// digests of two levels and their bytes.
func (s Shape) windowBytes() uint64 {
	return uint64(elementBytes*s.rowsAtOnce()*s.Width + block + 3*digestBytes*min(s.Rows, window))
}

// BuildFile builds a tree over rows that it reads from a reader, and writes the tree to a file.
// The reader gives row after row, eight bytes per element, the least significant first. When the
// new file is whole, it replaces any file at path. BuildFile takes up to 16 MiB of memory,
// whatever the shape, and returns ErrLimit if less is available.
//
// If the rows end early, if more bytes follow them or if an element is not canonical, the error is
// of type *zkbench.DecodeError and says where. BuildFile returns io.ErrNoProgress if the reader
// returns no bytes a hundred times in a row. It returns ErrParams if shape.Check refuses the
// shape, if rows is nil, or if the reader reports more bytes than were requested.
func BuildFile(ctx context.Context, ex executor.Executor, shape Shape, rows io.Reader, path string, on ...goldilocks.Kernel) (*File, error) {
	if err := shape.Check(); err != nil {
		return nil, err
	}
	if rows == nil {
		return nil, fmt.Errorf("%w: rows: no reader", zkbench.ErrParams)
	}
	if err := memory.Fits("the rows and digests in memory", shape.windowBytes()); err != nil {
		return nil, err
	}
	if err := buildFile(ctx, ex, on, shape, rows, path); err != nil {
		return nil, err
	}
	return OpenFile(path)
}

// buildFile writes a temporary file, closes it and renames it: Windows cannot rename an open file.
func buildFile(ctx context.Context, ex executor.Executor, on []goldilocks.Kernel, shape Shape, rows io.Reader, path string) (err error) {
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return err
	}
	renamed := false
	defer func() { // also if the reader panics
		if !renamed {
			_ = part.Close() // it may be closed
			err = errors.Join(err, os.Remove(part.Name()))
		}
	}()
	f := &File{shape, part}
	if err := f.build(ctx, ex, on, rows); err != nil {
		return err
	}
	if err := errors.Join(part.Sync(), part.Close()); err != nil {
		return err
	}
	if err := os.Rename(part.Name(), path); err != nil {
		return err
	}
	renamed = true
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename durable, if the system syncs directories.
func syncDir(path string) error {
	err := atomicfile.SyncDir(path)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

func (f *File) build(ctx context.Context, ex executor.Executor, on []goldilocks.Kernel, rows io.Reader) error {
	if err := f.leaves(ctx, ex, on, rows); err != nil {
		return err
	}
	for level := 1; level < f.shape.Levels(); level++ {
		if err := f.level(ctx, ex, on, level); err != nil {
			return err
		}
	}
	root, err := f.Root()
	if err != nil {
		return err
	}
	_, err = f.file.WriteAt(f.shape.head(root), 0) // last: without a head the file is not a tree
	return err
}

// leaves reads the rows, a window at a time, and writes their digests.
func (f *File) leaves(ctx context.Context, ex executor.Executor, on []goldilocks.Kernel, rows io.Reader) error {
	width, many := f.shape.Width, f.shape.rowsAtOnce()
	in := rowReader{shape: f.shape, in: rows, raw: make([]byte, block)}
	elements := make([]goldilocks.Element, many*width)
	digests := make([]poseidon.Digest, many)
	for from := 0; from < f.shape.Rows; from += many {
		n := min(many, f.shape.Rows-from)
		if err := in.read(ctx, elements[:n*width]); err != nil {
			return err
		}
		err := inChunks(ctx, ex, n, func(a, b int) error {
			poseidon.LeavesAll(digests[a:b], elements[a*width:b*width], width, on...)
			return nil
		})
		if err == nil {
			err = f.write(0, from, digests[:n])
		}
		if err != nil {
			return err
		}
	}
	return in.end(ctx)
}

// level makes a level from the one below, a window at a time.
func (f *File) level(ctx context.Context, ex executor.Executor, on []goldilocks.Kernel, level int) error {
	below := make([]poseidon.Digest, min(window, f.shape.nodesAt(level-1)))
	here := make([]poseidon.Digest, (len(below)+1)/2)
	for from := 0; from < f.shape.nodesAt(level-1); from += window {
		in := below[:min(window, f.shape.nodesAt(level-1)-from)]
		if err := f.read(level-1, from, in); err != nil {
			return err
		}
		pairs := len(in) / 2
		out := here[:(len(in)+1)/2]
		if pairs < len(out) {
			out[pairs] = in[2*pairs] // it has no sibling
		}
		err := inChunks(ctx, ex, pairs, func(a, b int) error {
			poseidon.CompressAll(out[a:b], in[2*a:2*b], on...)
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
