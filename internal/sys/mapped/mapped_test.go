package mapped

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
	"unsafe"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestRead: a file's bytes, in memory of both kinds, aligned, of the size that is asked for alone.
func TestRead(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 10_001} {
		want := bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7}, n)[:n]
		path := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(path, want, 0o600))
		data, free, err := Read(path, int64(n))
		must.Do(t, err)
		golden.Equal(t, "bytes", string(want), string(data))
		golden.Equal(t, "offset from a word", 0, uintptr(unsafe.Pointer(unsafe.SliceData(data)))%8)
		onHeap, none, err := readHeap(bytes.NewReader(want), n)
		must.Do(t, errors.Join(err, none()))
		golden.Equal(t, "bytes on the heap", string(want), string(onHeap))
		for _, other := range []int{n - 1, n + 1} {
			if _, _, err := Read(path, int64(other)); err == nil {
				t.Errorf("a file of %d bytes is taken for one of %d", n, other)
			}
		}
		must.Do(t, os.Truncate(path, 0))
		golden.Equal(t, "bytes of a file that was cut since", string(want), string(data))
		must.Do(t, free())
	}
	words := []uint64{1, 1 << 60, 3}
	golden.Equal(t, "bytes of words", 24, len(Bytes(words)))
	golden.Equal(t, "their words", words, Values[uint64](Bytes(words)))
	if _, _, err := Read(filepath.Join(t.TempDir(), "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestReadCut: a file that is cut after its size was looked at is an error with both lengths.
func TestReadCut(t *testing.T) {
	for name, read := range map[string]func(io.Reader, int) ([]byte, func() error, error){"memory": readFile, "heap": readHeap} {
		for _, n := range []int{0, 1, 9999} {
			data, _, err := read(bytes.NewReader(make([]byte, n)), 10_000)
			if data != nil || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %d bytes of 10000: %d bytes, %v", name, n, len(data), err)
				continue
			}
			golden.Contains(t, err.Error(), fmt.Sprintf("ends after %d bytes, want 10000", n))
		}
		failing := errors.New("device")
		if _, _, err := read(iotest.ErrReader(failing), 1); !errors.Is(err, failing) {
			t.Errorf("%s: %v, want what the reader says", name, err)
		}
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
