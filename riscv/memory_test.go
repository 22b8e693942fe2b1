package riscv

import (
	"math/rand/v2"
	"testing"
)

// TestModelOfRegions: after random maps and unmaps regions are those of a model that knows each page, as few as there can
// be, and what was dropped is gone.
func TestModelOfRegions(t *testing.T) {
	const pages = 16
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		m := newMemory(rv64gc, 1<<20)
		var has [pages]rights // of each page
		var touched [pages]bool
		for range 40 {
			first := r.IntN(pages)
			end := first + 1 + r.IntN(pages-first)
			start, stop := uint64(first)<<pageBits, uint64(end)<<pageBits
			right, drops := []rights{readable, readable | writable}[r.IntN(2)], r.IntN(3)
			for i := first; i < end; i++ {
				switch {
				case drops == 0:
					has[i], touched[i] = 0, false
				case drops == 1:
					touched[i] = false
				default:
					has[i] = right
				}
			}
			switch {
			case drops == 0:
				m.unmap(start, stop)
			case drops == 1:
				m.drop(start, stop)
			default:
				m.setRights(start, stop, right)
			}
			at := r.IntN(pages)
			if m.store(uint64(at)<<pageBits, 1, 1) == 0 {
				touched[at] = true
			}
			regions := 0
			for i := range has {
				if has[i] != 0 && (i == 0 || has[i-1] != has[i]) {
					regions++
				}
				if m.rightsAt(uint64(i)<<pageBits|5) != has[i] {
					t.Fatalf("page %d: rights %d, want %d", i, m.rightsAt(uint64(i)<<pageBits|5), has[i])
				}
				if (m.pages[uint64(i)] != nil) != touched[i] {
					t.Fatalf("page %d: there, want %v", i, touched[i])
				}
			}
			if len(m.regions) != regions {
				t.Fatalf("%d regions, want %d", len(m.regions), regions)
			}
		}
	}
}
