//go:build purego || !amd64

package goldilocks

func (d *Domain) wideNTT(Kernel, []Element, Order) bool { return false }
