package mapped

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
)

// TestOpen: a file's bytes, mapped and read, aligned, of the size that is asked for alone.
func TestOpen(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 10_001} {
		want := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7}, n)[:n]
		path := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(path, want, 0o600))
		data, closing, err := Open(path, int64(n))
		must.Do(t, err)
		golden.Equal(t, "bytes", string(want), string(data))
		golden.Equal(t, "offset from a word", 0, uintptr(unsafe.Pointer(unsafe.SliceData(data)))%8)
		read, _, err := readFile(bytes.NewReader(want), n)
		must.Do(t, errors.Join(err, closing()))
		golden.Equal(t, "bytes that are read", string(want), string(read))
		for _, other := range []int{n - 1, n + 1} {
			if _, _, err := Open(path, int64(other)); err == nil {
				t.Errorf("a file of %d bytes is taken for one of %d", n, other)
			}
		}
	}
	words := []uint64{1, 1 << 60, 3}
	golden.Equal(t, "bytes of words", 24, len(Bytes(words)))
	golden.Equal(t, "their words", words, Values[uint64](Bytes(words)))
	if _, _, err := Open(filepath.Join(t.TempDir(), "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, _, err := readFile(bytes.NewReader(nil), 1); err == nil {
		t.Error("a file that ends is read whole")
	}
}

// TestMemory: memory is 0, can be written, and is aligned; none is none.
func TestMemory(t *testing.T) {
	for _, n := range []int{0, 1, 8, 4096, 1 << 20} {
		for _, get := range []func(n int) ([]byte, func()){Memory, heapMemory} {
			data, free := get(n)
			golden.Equal(t, "bytes", n, len(data))
			if bytes.ContainsFunc(data, func(r rune) bool { return r != 0 }) {
				t.Errorf("%d bytes are not 0", n)
			}
			for i := range data {
				data[i] = 1
			}
			if n >= 8 && uintptr(unsafe.Pointer(&data[0]))%8 > 0 {
				t.Errorf("%d bytes at %p", n, &data[0])
			}
			free()
		}
	}
}
