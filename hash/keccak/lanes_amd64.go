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

func sumColumnsWide[D ~[Digest / 8]uint64, W Word](k Kernel, dst []D, columns [][]W) int {
	s := spongesOf(k)
	if s.lanes == 0 || len(dst) < s.lanes {
		return 0
	}
	n := len(dst) &^ (s.lanes - 1)
	for i := range columns {
		_ = columns[i][n-1] // the assembly does not look
	}
	perBlock := Rate / wordBytes[W]()
	whole, rest := columns[:len(columns)/perBlock*perBlock], columns[len(columns)/perBlock*perBlock:]
	// Columns pad the rows to a whole block, so that padding is absorbed like any column. All memory is on the
	// stack, because a tree hashes few rows at a time.
	var begin, zeros, end [piece]W
	for i := range piece {
		begin[i], end[i] = W(Keccak256), ^(^W(0) >> 1)
		if len(rest) == perBlock-1 {
			begin[i] |= end[i]
		}
	}
	var last [Rate / 4][]W // as many columns as a block has of the shorter words
	for i := range perBlock {
		last[i] = zeros[:]
	}
	last[perBlock-1], last[len(rest)] = end[:], begin[:]
	for from := 0; from < n; from += piece {
		for i, column := range rest {
			last[i] = column[from:]
		}
		for i := 0; i < min(piece, n-from); i += s.lanes {
			s.clear()
			if len(whole) > 0 {
				absorb(&s, whole, from+i)
			}
			absorb(&s, last[:perBlock], i)
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
	const elements = 2 * Digest / 8
	var words [elements * lanesAVX512]uint64
	var begin, zeros, end [lanesAVX512]uint64
	for i := range begin {
		begin[i], end[i] = Keccak256, 1<<63
	}
	var columns [Rate / 8][]uint64
	for i := range columns {
		columns[i] = zeros[:]
	}
	for i := range elements {
		columns[i] = words[i*s.lanes : (i+1)*s.lanes]
	}
	columns[elements], columns[len(columns)-1] = begin[:], end[:]
	for i := 0; i < n; i += s.lanes {
		for half := range 2 {
			from, to := &pairs[2*i+half][0], &words[half*Digest/8*s.lanes]
			if s.lanes == lanesAVX512 {
				columnsOfAVX512((*[lanesAVX512]uint64)(unsafe.Pointer(to)), from, 2*Digest)
			} else {
				columnsOfAVX2((*[lanesAVX2]uint64)(unsafe.Pointer(to)), from, 2*Digest)
			}
		}
		s.clear()
		absorb(&s, columns[:], 0)
		s.digests(&dst[i][0])
	}
	return n
}
