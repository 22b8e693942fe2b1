//go:build !purego

package poseidon

import "github.com/zkbench/zkbench/goldilocks"

// Lanes of a register: as many states are permuted at once.
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

// columnsOfAVX512 makes four columns, of a row's first four elements each; the rows are
// stride bytes apart. rowsOfAVX512 is its inverse.
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

// quarters is how many elements columnsOf and rowsOf move of each row.
const quarters = 4

// lanes are as many states as a register has lanes, element by element.
type lanes interface {
	// load sets four elements of each state, from first on, to those of its row; rows are
	// stride bytes apart. store is its inverse.
	load(first int, rows *goldilocks.Element, stride int)
	store(rows *goldilocks.Element, first, stride int)
	// set sets one element of one state.
	set(element, state int, e goldilocks.Element)
	// clear makes the elements from first on zeros.
	clear(first int)
	permute()
}

type lanes8 [Width][lanesAVX512]goldilocks.Element

func (l *lanes8) load(first int, rows *goldilocks.Element, stride int) {
	columnsOfAVX512(&l[first], rows, stride)
}

func (l *lanes8) store(rows *goldilocks.Element, first, stride int) {
	rowsOfAVX512(rows, &l[first], stride)
}
func (l *lanes8) set(element, state int, e goldilocks.Element) { l[element][state] = e }
func (l *lanes8) clear(first int)                              { clear(l[first:]) }
func (l *lanes8) permute() {
	permuteAVX512((*[Width][lanesAVX512]goldilocks.Element)(l), &constants)
}

type lanes4 [Width][lanesAVX2]goldilocks.Element

func (l *lanes4) load(first int, rows *goldilocks.Element, stride int) {
	columnsOfAVX2(&l[first], rows, stride)
}

func (l *lanes4) store(rows *goldilocks.Element, first, stride int) {
	rowsOfAVX2(rows, &l[first], stride)
}
func (l *lanes4) set(element, state int, e goldilocks.Element) { l[element][state] = e }
func (l *lanes4) clear(first int)                              { clear(l[first:]) }
func (l *lanes4) permute() {
	permuteAVX2((*[Width][lanesAVX2]goldilocks.Element)(l), &constants)
}

// lanesOf are the kernel's lanes, and how many; none of the portable kernel.
func lanesOf(k goldilocks.Kernel) (lanes, int) {
	switch k.String() {
	case "avx512":
		return new(lanes8), lanesAVX512
	case "avx2":
		return new(lanes4), lanesAVX2
	}
	return nil, 1
}

func permuteWide(k goldilocks.Kernel, states []State) (n int) {
	l, step := lanesOf(k)
	for ; l != nil && n+step <= len(states); n += step {
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
	l, step := lanesOf(k)
	for ; l != nil && n+step <= len(dst); n += step {
		l.load(0, &pairs[2*n][0], 2*digestSize)
		l.load(DigestLen, &pairs[2*n+1][0], 2*digestSize)
		l.clear(Rate)
		l.permute()
		l.store(&dst[n][0], 0, digestSize)
	}
	return n
}

func leavesWide(k goldilocks.Kernel, dst []Digest, leaves []goldilocks.Element, width int) (n int) {
	if width <= DigestLen {
		return 0
	}
	l, step := lanesOf(k)
	for ; l != nil && n+step <= len(dst); n += step {
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
