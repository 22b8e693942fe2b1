//go:build !purego

package vec52

import "golang.org/x/sys/cpu"

var hasIFMA = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512IFMA

//go:noescape
func mul5(dst *uint64, a *uint64, b *uint64, constants *uint64, n int)

//go:noescape
func square5(dst *uint64, a *uint64, constants *uint64, n int)

//go:noescape
func mul8(dst *uint64, a *uint64, b *uint64, constants *uint64, n int)

//go:noescape
func square8(dst *uint64, a *uint64, constants *uint64, n int)

//go:noescape
func chordForward5(points *uint64, pairs *Pair, products *uint64, constants *uint64, n int)

//go:noescape
func chordBackward5(points *uint64, pairs *Pair, products *uint64, inverse *uint64, constants *uint64, n int)

//go:noescape
func tangentForward5(points *uint64, pairs *Pair, products *uint64, constants *uint64, n int)

//go:noescape
func tangentBackward5(points *uint64, pairs *Pair, products *uint64, inverse *uint64, constants *uint64, n int)

//go:noescape
func gather5(points *uint64, entries *uint64, picks *uint32, constants *uint64, n int)

//go:noescape
func pack5(entries *uint64, points *uint64, constants *uint64, n int)

//go:noescape
func chordForward8(points *uint64, pairs *Pair, products *uint64, constants *uint64, n int)

//go:noescape
func chordBackward8(points *uint64, pairs *Pair, products *uint64, inverse *uint64, constants *uint64, n int)

//go:noescape
func tangentForward8(points *uint64, pairs *Pair, products *uint64, constants *uint64, n int)

//go:noescape
func tangentBackward8(points *uint64, pairs *Pair, products *uint64, inverse *uint64, constants *uint64, n int)

//go:noescape
func gather8(points *uint64, entries *uint64, picks *uint32, constants *uint64, n int)

//go:noescape
func pack8(entries *uint64, points *uint64, constants *uint64, n int)

//go:noescape
func addSelected5(sum *uint64, table *uint64, digits *int64, constants *uint64, n int)

//go:noescape
func addPoints5(sum *uint64, other *uint64, constants *uint64, n int)

//go:noescape
func double5(sum *uint64, constants *uint64, n int)

//go:noescape
func addSelected8(sum *uint64, table *uint64, digits *int64, constants *uint64, n int)

//go:noescape
func addPoints8(sum *uint64, other *uint64, constants *uint64, n int)

//go:noescape
func double8(sum *uint64, constants *uint64, n int)

//go:noescape
func scale5(dst *uint64, a *uint64, b *uint64, constants *uint64, n int)

//go:noescape
func scale8(dst *uint64, a *uint64, b *uint64, constants *uint64, n int)

//go:noescape
func fourTo5(x *uint64, stride int, columns int, roots *uint64, constants *uint64, n int)

//go:noescape
func fourOneTo5(x *uint64, stride int, columns int, roots *uint64, constants *uint64, n int)

//go:noescape
func eightTo5(x *uint64, roots *uint64, constants *uint64, n int)

//go:noescape
func fourFrom5(x *uint64, stride int, columns int, roots *uint64, constants *uint64, n int)

//go:noescape
func fourOneFrom5(x *uint64, stride int, columns int, roots *uint64, constants *uint64, n int)

//go:noescape
func eightFrom5(x *uint64, roots *uint64, constants *uint64, n int)

//go:noescape
func twoOne5(x *uint64, stride int, columns int, roots *uint64, constants *uint64, n int)

//go:noescape
func turn5(dst *uint64, src *uint64, stride int, constants *uint64, n int)

//go:noescape
func in5(dst *uint64, src *uint64, constants *uint64, n int)

//go:noescape
func out5(dst *uint64, src *uint64, constants *uint64, n int)

//go:noescape
func add5(dst *uint64, a *uint64, b *uint64, constants *uint64, n int)

//go:noescape
func sub5(dst *uint64, a *uint64, b *uint64, constants *uint64, n int)
