//go:build !purego

package keccak

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

func vectorKernels() (names []string) {
	if cpu.X86.HasAVX2 {
		names = append(names, avx2)
	}
	if cpu.X86.HasAVX512F {
		names = append(names, avx512)
	}
	return names
}

// The number of lanes of a register, which is the number of states that are permuted at once.
const (
	lanesAVX2   = 4
	lanesAVX512 = 8
)

// absorbAVX512 makes eight states absorb blocks, and permutes them after each block. Lane i of state j is
// states[i][j]. Block n consists of the elements from index at on of the columns that follow those of block
// n-1: 17 columns of 8-byte elements or 34 of 4-byte elements, where the first of two is the lower half of a
// word. There must be at least one block.
//
//go:noescape
func absorbAVX512(states *[Lanes][lanesAVX512]uint64, columns *[]uint64, at, blocks, bytes int)

//go:noescape
func absorbAVX2(states *[Lanes][lanesAVX2]uint64, columns *[]uint64, at, blocks, bytes int)

// columnsOfAVX512 makes four columns of each row's first four words. The rows are stride bytes apart.
// rowsOfAVX512 is its inverse.
//
//go:noescape
func columnsOfAVX512(columns *[lanesAVX512]uint64, rows *uint64, stride int)

//go:noescape
func rowsOfAVX512(rows *uint64, columns *[lanesAVX512]uint64, stride int)

//go:noescape
func columnsOfAVX2(columns *[lanesAVX2]uint64, rows *uint64, stride int)

//go:noescape
func rowsOfAVX2(rows *uint64, columns *[lanesAVX2]uint64, stride int)

// sponges holds as many states as a register has lanes, lane by lane.
type sponges struct {
	lanes int // 8, 4, or 0: the kernel has none
	eight [Lanes][lanesAVX512]uint64
	four  [Lanes][lanesAVX2]uint64
}

func spongesOf(k Kernel) sponges {
	return sponges{lanes: map[string]int{avx512: lanesAVX512, avx2: lanesAVX2}[k.name]}
}

// clear sets all states to zero.
func (s *sponges) clear() {
	if s.lanes == lanesAVX512 {
		clear(s.eight[:])
	} else {
		clear(s.four[:])
	}
}

// absorb absorbs the elements from index at on of padded columns.
func absorb[W Word](s *sponges, columns [][]W, at int) {
	// The assembly reads no capacity and no length, and bytes gives it the size of the elements.
	// Slices of both types have their pointers in the same places.
	first := (*[]uint64)(unsafe.Pointer(unsafe.SliceData(columns)))
	bytes := wordBytes[W]()
	blocks := len(columns) * bytes / Rate
	if s.lanes == lanesAVX512 {
		absorbAVX512(&s.eight, first, at, blocks, bytes)
	} else {
		absorbAVX2(&s.four, first, at, blocks, bytes)
	}
}

// digests sets consecutive digests, beginning with first, to those of the states.
func (s *sponges) digests(first *uint64) {
	if s.lanes == lanesAVX512 {
		rowsOfAVX512(first, &s.eight[0], Digest)
	} else {
		rowsOfAVX2(first, &s.four[0], Digest)
	}
}

// piece is the number of rows that are hashed with the same padding in memory.
const piece = 64

// padded returns the columns, followed by n elements each of the columns that pad their rows to whole blocks.
// So padding is absorbed like any column.
func padded[W Word](columns [][]W, n int) [][]W {
	perBlock := Rate / wordBytes[W]()
	missing := perBlock - len(columns)%perBlock
	all := make([][]W, 0, len(columns)+missing)
	all = append(all, columns...)
	last := ^(^W(0) >> 1)
	if missing == 1 {
		return append(all, repeated(Keccak256|last, n))
	}
	all = append(all, repeated(W(Keccak256), n))
	zeros := make([]W, n)
	for range missing - 2 {
		all = append(all, zeros)
	}
	return append(all, repeated(last, n))
}

func repeated[W Word](w W, n int) []W {
	all := make([]W, n)
	for i := range all {
		all[i] = w
	}
	return all
}

func sumColumnsWide[D ~[Digest / 8]uint64, W Word](k Kernel, dst []D, columns [][]W) int {
	s := spongesOf(k)
	if s.lanes == 0 || len(dst) < s.lanes {
		return 0
	}
	n := len(dst) &^ (s.lanes - 1)
	for i := range columns {
		_ = columns[i][n-1] // the assembly does not look
	}
	all := padded(columns, min(n, piece))
	for from := 0; from < n; from += piece {
		for i, column := range columns {
			all[i] = column[from:]
		}
		for i := 0; i < min(piece, n-from); i += s.lanes {
			s.clear()
			absorb(&s, all, i)
			s.digests(&dst[from+i][0])
		}
	}
	return n
}

func sumPairsWide[D ~[Digest / 8]uint64](k Kernel, dst, pairs []D) int {
	s := spongesOf(k)
	if s.lanes == 0 || len(dst) < s.lanes {
		return 0
	}
	n := len(dst) &^ (s.lanes - 1)
	_ = pairs[2*n-1]
	// A pair's eight words are columns, next to each other.
	words := make([]uint64, 2*Digest/8*s.lanes)
	columns := make([][]uint64, 2*Digest/8)
	for i := range columns {
		columns[i] = words[i*s.lanes : (i+1)*s.lanes]
	}
	all := padded(columns, s.lanes)
	for i := 0; i < n; i += s.lanes {
		for half := range 2 {
			from, to := &pairs[2*i+half][0], &words[half*len(words)/2]
			if s.lanes == lanesAVX512 {
				columnsOfAVX512((*[lanesAVX512]uint64)(unsafe.Pointer(to)), from, 2*Digest)
			} else {
				columnsOfAVX2((*[lanesAVX2]uint64)(unsafe.Pointer(to)), from, 2*Digest)
			}
		}
		s.clear()
		absorb(&s, all, 0)
		s.digests(&dst[i][0])
	}
	return n
}
