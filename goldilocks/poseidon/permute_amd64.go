//go:build !purego

package poseidon

import "github.com/zkbench/zkbench/goldilocks"

// The lanes of a register, which is also the number of states permuted at once.
const (
	lanesAVX2   = 4
	lanesAVX512 = 8
)

// permuteAVX512 permutes the states whose i-th elements are columns[i].
//
//go:noescape
func permuteAVX512(columns *[Width][lanesAVX512]goldilocks.Element, constants *schedule)

//go:noescape
func permuteAVX2(columns *[Width][lanesAVX2]goldilocks.Element, constants *schedule)

// columnsOfAVX512 makes four columns from the first four elements of each row. The rows are stride
// bytes apart. rowsOfAVX512 is its inverse.
//
//go:noescape
func columnsOfAVX512(columns *[lanesAVX512]goldilocks.Element, rows *goldilocks.Element, stride int)

//go:noescape
func rowsOfAVX512(rows *goldilocks.Element, columns *[lanesAVX512]goldilocks.Element, stride int)

//go:noescape
func columnsOfAVX2(columns *[lanesAVX2]goldilocks.Element, rows *goldilocks.Element, stride int)

//go:noescape
func rowsOfAVX2(rows *goldilocks.Element, columns *[lanesAVX2]goldilocks.Element, stride int)

const (
	elementSize = 8
	digestSize  = elementSize * DigestLen
	stateSize   = elementSize * Width
)

// quarters is the number of elements that columnsOf and rowsOf move in each row.
const quarters = 4

// lanes holds as many states as a register has lanes, element by element. Its methods call assembly
// that keeps no pointer, so it stays on the stack.
type lanes struct {
	n     int // 8, 4, or 0: the kernel has none
	eight [Width][lanesAVX512]goldilocks.Element
	four  [Width][lanesAVX2]goldilocks.Element
}

// lanesOf returns the number of lanes of a kernel.
func lanesOf(k goldilocks.Kernel) int {
	switch k.String() {
	case "avx512":
		return lanesAVX512
	case "avx2":
		return lanesAVX2
	}
	return 0
}

// load sets four elements of each state, from first on, to those of its row. The rows are stride
// bytes apart. store is its inverse.
func (l *lanes) load(first int, rows *goldilocks.Element, stride int) {
	if l.n == lanesAVX512 {
		columnsOfAVX512(&l.eight[first], rows, stride)
	} else {
		columnsOfAVX2(&l.four[first], rows, stride)
	}
}

func (l *lanes) store(rows *goldilocks.Element, first, stride int) {
	if l.n == lanesAVX512 {
		rowsOfAVX512(rows, &l.eight[first], stride)
	} else {
		rowsOfAVX2(rows, &l.four[first], stride)
	}
}

// set sets one element of one state.
func (l *lanes) set(element, state int, e goldilocks.Element) {
	if l.n == lanesAVX512 {
		l.eight[element][state] = e
	} else {
		l.four[element][state] = e
	}
}

// clear sets the elements from first on to zero.
func (l *lanes) clear(first int) {
	if l.n == lanesAVX512 {
		clear(l.eight[first:])
	} else {
		clear(l.four[first:])
	}
}

func (l *lanes) permute() {
	if l.n == lanesAVX512 {
		permuteAVX512(&l.eight, &constants)
	} else {
		permuteAVX2(&l.four, &constants)
	}
}

func permuteWide(k goldilocks.Kernel, states []State) (n int) {
	l := lanes{n: lanesOf(k)}
	for step := l.n; step > 0 && n+step <= len(states); n += step {
		for first := 0; first < Width; first += quarters {
			l.load(first, &states[n][first], stateSize)
		}
		l.permute()
		for first := 0; first < Width; first += quarters {
			l.store(&states[n][first], first, stateSize)
		}
	}
	return n
}

func compressWide(k goldilocks.Kernel, dst, pairs []Digest) (n int) {
	l := lanes{n: lanesOf(k)}
	for step := l.n; step > 0 && n+step <= len(dst); n += step {
		l.load(0, &pairs[2*n][0], 2*digestSize)
		l.load(DigestLen, &pairs[2*n+1][0], 2*digestSize)
		l.clear(Rate)
		l.permute()
		l.store(&dst[n][0], 0, digestSize)
	}
	return n
}

// setLanes sets an element of all states.
func (l *lanes) setLanes(element int, values []goldilocks.Element) {
	if l.n == lanesAVX512 {
		l.eight[element] = [lanesAVX512]goldilocks.Element(values)
	} else {
		l.four[element] = [lanesAVX2]goldilocks.Element(values)
	}
}

func columnsWide(k goldilocks.Kernel, dst []Digest, columns [][]goldilocks.Element) (n int) {
	l := lanes{n: lanesOf(k)}
	for step := l.n; step > 0 && n+step <= len(dst); n += step {
		l.clear(0)
		for from := 0; from < len(columns); from += Rate {
			for at, c := range columns[from:min(from+Rate, len(columns))] {
				l.setLanes(at, c[n:n+step])
			}
			l.permute()
		}
		l.store(&dst[n][0], 0, digestSize)
	}
	return n
}

func leavesWide(k goldilocks.Kernel, dst []Digest, leaves []goldilocks.Element, width int) (n int) {
	if width <= DigestLen {
		return 0
	}
	l := lanes{n: lanesOf(k)}
	for step := l.n; step > 0 && n+step <= len(dst); n += step {
		for from := 0; from < width; from += Rate {
			if from == 0 {
				l.clear(Rate)
			} else {
				// The capacity is the digest so far.
				l.load(Rate, &dst[n][0], digestSize)
			}
			for first := 0; first < Rate; first += quarters {
				at := from + first
				if at+quarters <= width {
					l.load(first, &leaves[n*width+at], elementSize*width)
					continue
				}
				for element := range quarters {
					for state := range step {
						var e goldilocks.Element
						if at+element < width {
							e = leaves[(n+state)*width+at+element]
						}
						l.set(first+element, state, e)
					}
				}
			}
			l.permute()
			l.store(&dst[n][0], 0, digestSize)
		}
	}
	return n
}
