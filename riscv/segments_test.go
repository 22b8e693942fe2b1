package riscv

import (
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestSegments: they are the memory that a run starts with: rights and contents of every byte.
func TestSegments(t *testing.T) {
	const at = 0x10000
	for name, segments := range map[string][]rv.Segment{
		"one":             {{At: at, Flags: 5, Data: []byte{1, 2, 3}}},
		"from the middle": {{At: at + 0x804, Flags: 5, Data: []byte{1, 2, 3}}, {At: at + 0x2000, Flags: 6, Memory: 5000}},
		"on one page":     {{At: at, Flags: 5, Data: []byte{1}}, {At: at + 9, Flags: 6, Data: []byte{2}}, {At: at + 0x801, Flags: 4, Data: []byte{3}, Memory: 0x1800}},
		"side by side":    {{At: at, Flags: 5, Data: make([]byte, 4096)}, {At: at + 0x1000, Flags: 6, Data: []byte{2}}},
		"at a boundary":   {{At: at, Flags: 5, Data: []byte{1}, Memory: 0x1008}, {At: at + 0x1008, Flags: 6, Data: []byte{2}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := must.Get(Load(rv.ELF(64, segments[0].At, segments...), RV64IM()))(t)
			m := must.Get(newMachine(p, Options{}))(t)
			all := p.Segments()
			for a := uint64(at - pageSize); a < at+4*pageSize; a++ {
				right, want := rights(0), byte(0)
				for _, s := range all {
					if s.Start <= a && a < s.End {
						if right != 0 {
							t.Fatalf("%#x: in two segments", a)
						}
						for r, has := range map[rights]bool{readable: s.Readable, writable: s.Writable, executable: s.Executable} {
							if has {
								right |= r
							}
						}
						if i := a - s.Start; i < uint64(len(s.Data)) {
							want = s.Data[i]
						}
					}
				}
				if has := m.mem.rightsAt(a); right != has {
					t.Fatalf("%#x: rights %b, want %b", a, right, has)
				}
				if has := byte(m.mem.word(a) >> (a % 8 * 8)); want != has {
					t.Fatalf("%#x: %d, want %d", a, want, has)
				}
			}
			all[0].Data[len(all[0].Data)-1]++ // the caller's own copy
			golden.Equal(t, "data", segments[0].Data[len(segments[0].Data)-1], p.segments[0].data[len(segments[0].Data)-1])
		})
	}
}
