package zkvm

import (
	"errors"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/study/rv"
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

// TestLargeConstants: a segment that cannot be written is refused before a row is made for each of its cells.
func TestLargeConstants(t *testing.T) {
	_, err := Load(rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: rv.Text(rv.Ecall)}, rv.Segment{At: dataAt, Flags: 4, Memory: 1 << 30}))
	if _, ok := errors.AsType[*zkbench.LimitError](err); !ok {
		t.Error(err)
	}
}

// TestPublicLength: a length of the input that is no element of the field cannot be decoded.
func TestPublicLength(t *testing.T) {
	p := &proof{hash: hashes[0], image: make([]byte, 4), halted: start + accesses, input: digest{length: minus}}
	_, err := decodeProof(p.encode())
	if e, ok := errors.AsType[*zkbench.DecodeError](err); !ok || e.Path != "input" {
		t.Error(err)
	}
}
