//go:build purego || !amd64

package vec52

// Without kernels nothing calls these functions.

const hasIFMA = false

func mul5(dst *uint64, a *uint64, b *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}
func square5(dst *uint64, a *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }
func mul8(dst *uint64, a *uint64, b *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}
func square8(dst *uint64, a *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }
func chordForward5(points *uint64, pairs *Pair, products *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func chordBackward5(points *uint64, pairs *Pair, products *uint64, inverse *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func tangentForward5(points *uint64, pairs *Pair, products *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func tangentBackward5(points *uint64, pairs *Pair, products *uint64, inverse *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func gather5(points *uint64, entries *uint64, picks *uint32, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func pack5(entries *uint64, points *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }

func chordForward8(points *uint64, pairs *Pair, products *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func chordBackward8(points *uint64, pairs *Pair, products *uint64, inverse *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func tangentForward8(points *uint64, pairs *Pair, products *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func tangentBackward8(points *uint64, pairs *Pair, products *uint64, inverse *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func gather8(points *uint64, entries *uint64, picks *uint32, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func pack8(entries *uint64, points *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }

func addSelected5(sum *uint64, table *uint64, digits *int64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func addPoints5(sum *uint64, other *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }

func double5(sum *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }

func addSelected8(sum *uint64, table *uint64, digits *int64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func addPoints8(sum *uint64, other *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }

func double8(sum *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }

func scale5(dst *uint64, a *uint64, b *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func scale8(dst *uint64, a *uint64, b *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func fourTo5(x *uint64, stride int, columns int, roots *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func fourOneTo5(x *uint64, stride int, columns int, roots *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func eightTo5(x *uint64, roots *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }

func fourFrom5(x *uint64, stride int, columns int, roots *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func fourOneFrom5(x *uint64, stride int, columns int, roots *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func eightFrom5(x *uint64, roots *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }

func twoOne5(x *uint64, stride int, columns int, roots *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func turn5(dst *uint64, src *uint64, stride int, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func in5(dst *uint64, src *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }

func out5(dst *uint64, src *uint64, constants *uint64, n int) { panic("vec52: no such kernel") }

func add5(dst *uint64, a *uint64, b *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}

func sub5(dst *uint64, a *uint64, b *uint64, constants *uint64, n int) {
	panic("vec52: no such kernel")
}
