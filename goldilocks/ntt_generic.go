//go:build purego || (!amd64 && !arm64)

package goldilocks

// tableBytes is 0: there are no tables except the roots.
const tableBytes = 0

func (d *Domain) wideNTT(Kernel, []Element, Order) bool { return false }
