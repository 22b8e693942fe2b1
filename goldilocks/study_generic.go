//go:build purego || (!amd64 && !arm64)

package goldilocks

func (k Kernel) alternatives() []Function { return nil }

// Each says how many of the first elements or states it has done: none here.

func (k Kernel) reduceElementsWide(dst, a, b []Element) int { return 0 }

func (k Kernel) productWide(upper, lower, a, b []Element) int { return 0 }

func (k Kernel) mulBytesWide(dst, a, b []Element) int { return 0 }

func (k Kernel) spmvWide(dst, a, b []Element) int { return 0 }

func (k Kernel) spmvBytesWide(dst, a, b []Element) int { return 0 }

func (k Kernel) mmultWide(dst, a []Element, columns *[quarterLen * stateLen]Element) int { return 0 }

func (k Kernel) mmultBytesWide(dst, a []Element, columns *[quarterLen * stateLen]Element) int {
	return 0
}
