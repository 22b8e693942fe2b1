//go:build purego || (!amd64 && !arm64)

package sve

import "github.com/zkbench/zkbench/goldilocks"

func (k kernel) alternatives() []Function { return nil }

// Each says how many of the first elements or states it has done: none here.

func (k kernel) reduceWide(dst, a, b []goldilocks.Element) int { return 0 }

func (k kernel) productWide(upper, lower, a, b []goldilocks.Element) int { return 0 }

func (k kernel) mulBytesWide(dst, a, b []goldilocks.Element) int { return 0 }

func (k kernel) spmvWide(dst, a, b []goldilocks.Element) int { return 0 }

func (k kernel) spmvBytesWide(dst, a, b []goldilocks.Element) int { return 0 }

func (k kernel) mmultWide(dst, a []goldilocks.Element, columns *[quarterLen * stateLen]goldilocks.Element) int {
	return 0
}

func (k kernel) mmultBytesWide(dst, a []goldilocks.Element, columns *[quarterLen * stateLen]goldilocks.Element) int {
	return 0
}
