package zkvm

import (
	"errors"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestRefusedPrograms: programs of which some runs would be proved that the machine refuses, or that the tables cannot hold.
func TestRefusedPrograms(t *testing.T) {
	for _, test := range []struct {
		name, why string
		segment   rv.Segment
	}{
		{"write only", "segment 1 from 0x30000 to 0x31000 can be written and not read", rv.Segment{At: dataAt, Flags: 2, Data: []byte{1}}},
		{"large", "segment 1 has 8589934592 cells that are zero at first, accepted are 4294967296", rv.Segment{At: dataAt, Flags: 6, Memory: 1 << 36}},
	} {
		_, err := Load(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(rv.Ecall)}, test.segment))
		if !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%s: %v, want %q", test.name, err, test.why)
		}
	}
}

// TestLargeSegments: segments with too many cells are refused before a row is made for each one. A small file can have many.
func TestLargeSegments(t *testing.T) {
	const most = mostCells * wordBytes
	code := rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(rv.Ecall)} // a page
	for _, test := range []struct {
		name     string
		cells    int64
		segments []rv.Segment
	}{
		{"one", (1<<30 + pageBytes) / wordBytes, []rv.Segment{{At: 1 << 20, Flags: 4, Memory: 1 << 30}}},
		{"two", (most + 2*pageBytes) / wordBytes, []rv.Segment{{At: 1 << 20, Flags: 4, Memory: most / 2}, {At: 1 << 30, Flags: 4, Memory: most/2 + 1}}},
		{"data", (most + pageBytes) / wordBytes, []rv.Segment{{At: 1 << 20, Flags: 6, Data: make([]byte, most)}}},
	} {
		_, err := Load(rv.ELF(64, codeAt, append(test.segments, code)...))
		if e, ok := errors.AsType[*zkbench.LimitError](err); !ok || e.Estimate != test.cells || e.Max != mostCells {
			t.Errorf("%s: %v, want %d cells", test.name, err, test.cells)
		}
	}
	must.Get(Load(rv.ELF(64, codeAt, code, rv.Segment{At: 1 << 20, Flags: 6, Data: make([]byte, most-pageBytes), Memory: 1 << 35})))(t)
}

// TestPublicLength: a length of the input that is no element of the field cannot be decoded.
func TestPublicLength(t *testing.T) {
	p := &proof{hash: hashes[0], image: make([]byte, 4), halted: start + accesses, input: digest{length: minus}}
	_, err := decodeProof(p.encode())
	if e, ok := errors.AsType[*zkbench.DecodeError](err); !ok || e.Path != "input" {
		t.Error(err)
	}
}

// TestLongOutput: an output that no proof can have is refused before it is hashed.
func TestLongOutput(t *testing.T) {
	for _, n := range []int{MaxOutput, MaxOutput + 1} {
		p := &proof{hash: hashes[0], image: make([]byte, 4), halted: start + accesses*(MaxOutput+2), output: make([]byte, n)}
		_, err := decodeProof(p.encode())
		if e, ok := errors.AsType[*zkbench.DecodeError](err); ok != (n > MaxOutput) || ok && e.Path != "output" {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
