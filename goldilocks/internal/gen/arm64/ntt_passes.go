package arm64

import "strings"

// Scratch registers of the transforms. Registers from 0 upwards hold the parameters.
const (
	xNTTScratch xReg = 10
	xNTTLanes   xReg = 11
)

// nttHead begins a function with the given parameters, one word each.
func (a *assembly) nttHead(label, signature, parameters string) {
	names := strings.Fields(parameters)
	a.line("\n// func %s(%s)", label, signature)
	a.line("TEXT ·%s(SB), NOSPLIT, $0-%d", label, 8*len(names))
	for i, name := range names {
		a.scalar("MOVD %s+%d(FP), R%d", name, 8*i, i)
	}
	a.constants(xNTTScratch)
}

// nttPair writes the butterflies of two vectors with one element.
func (a *assembly) nttPair(dir direction, label string) {
	const x, y, n, m, i xReg = 0, 1, 2, 3, 4
	a.nttHead(label, "x, y *Element, n int, m *multiplier", "x y n m")
	a.vector(ld1rd(nttMultipliers[0].z, every, m, 0))
	a.vector(ld1rd(nttMultipliers[0].q, every, m, 1))
	a.scalar("MOVD ZR, R%d", i)
	a.vector(whilelo(active, i, n))
	a.loop(label+"Loop", "BMI", func() {
		a.vector(ld1d(0, active, x, i))
		a.vector(ld1d(1, active, y, i))
		a.butterflyOf(dir, 0, 1, nttMultipliers[0], nttFree)
		a.vector(st1d(0, active, x, i))
		a.vector(st1d(1, active, y, i))
		a.vector(incd(i))
		a.vector(whilelo(active, i, n))
	})
	a.scalar("RET")
}

const signatureOfStride = "x *Element, blocks int, first, second *multiplier"

// nttMiddle writes a pass of two strides, 2 stride and stride, over blocks of 4 stride elements.
// first is the multiplier of the larger stride in the first block. second is the first of the
// block's two multipliers of the smaller stride. Those of the next blocks follow. Registers hold
// consecutive elements, so a stride below the number of lanes leaves lanes empty.
func (a *assembly) nttMiddle(dir direction, label string) {
	const x, stride, blocks, first, second, i, end, thrice xReg = 0, 1, 2, 3, 4, 8, 9, 12
	quarters := [4]xReg{x, 5, 6, 7}
	a.nttHead(label, "x *Element, stride, blocks int, first, second *multiplier", "x stride blocks first second")
	for j := 1; j < 4; j++ {
		a.scalar("ADD R%d<<3, R%d, R%d", stride, quarters[j-1], quarters[j])
	}
	a.scalar("ADD R%d<<1, R%d, R%d", stride, stride, thrice)
	a.scalar("MOVD ZR, R%d", i)
	a.line("%sBlock:", label)
	for j, m := range nttMultipliers {
		from, word := first, uint32(0)
		if j > 0 {
			from, word = second, uint32(2*(j-1))
		}
		a.vector(ld1rd(m.z, every, from, word))
		a.vector(ld1rd(m.q, every, from, word+1))
	}
	a.scalar("ADD $16, R%d", first)
	a.scalar("ADD $32, R%d", second)
	a.scalar("ADD R%d, R%d, R%d", stride, i, end)
	a.vector(whilelo(active, i, end))
	a.loop(label+"Loop", "BMI", func() {
		for j, q := range quarters {
			a.vector(ld1d(zReg(j), active, q, i))
		}
		a.fours(dir)
		for j, q := range quarters {
			a.vector(st1d(zReg(j), active, q, i))
		}
		a.vector(incd(i))
		a.vector(whilelo(active, i, end))
	})
	a.scalar("ADD R%d, R%d, R%d", thrice, end, i)
	a.scalar("SUBS $1, R%d", blocks)
	a.scalar("BNE %sBlock", label)
	a.scalar("RET")
}

// nttStride4 writes nttMiddle for stride 4 and a multiple of 4 lanes. A register holds quarters of
// blocks, four elements each, one after another.
func (a *assembly) nttStride4(dir direction, label string) {
	const (
		x, blocks, first, second, step xReg = 0, 1, 2, 3, 4

		// Each lane's addresses, and what a register of lanes adds to them.
		zX, zFirst, zSecond             zReg = 24, 25, 26
		zStepX, zStepFirst, zStepSecond zReg = 27, 28, 29
		zBlock, zTerm                   zReg = 22, 23
	)
	a.nttHead(label, signatureOfStride, "x blocks first second")
	a.vector(cntd(xNTTLanes))
	a.scalar("MOVD $1, R%d", step)
	a.vector(index(zBlock, 31, step))
	a.vector(shift("lsr", zBlock, zBlock, 2))
	// Blocks are of 128 bytes, of which four lanes make 32.
	a.scalar("MOVD $8, R%d", step)
	a.vector(index(zX, x, step))
	for _, by := range []uint32{5, 6} {
		a.vector(shift("lsl", zTerm, zBlock, by))
		a.vector(ddd("add", zX, zX, zTerm))
	}
	for _, m := range []struct {
		z    zReg
		from xReg
		by   uint32 // a block's bytes of multipliers, as a power of two
	}{{zFirst, first, 4}, {zSecond, second, 5}} {
		a.vector(shift("lsl", zTerm, zBlock, m.by))
		a.vector(dupX(m.z, m.from))
		a.vector(ddd("add", m.z, m.z, zTerm))
	}
	for _, s := range []struct {
		z  zReg
		by int // a lane's bytes, as a power of two
	}{{zStepX, 5}, {zStepFirst, 2}, {zStepSecond, 3}} {
		a.scalar("LSL $%d, R%d, R%d", s.by, xNTTLanes, step)
		a.vector(dupX(s.z, step))
	}
	a.scalar("LSL $2, R%d", blocks) // lanes
	a.loop(label+"Loop", "BGT", func() {
		a.vector(whilelo(active, 31, blocks))
		for j := range 4 {
			a.vector(gather(zReg(j), active, zX, uint32(4*j)))
		}
		for j, m := range nttMultipliers {
			from, word := zFirst, uint32(0)
			if j > 0 {
				from, word = zSecond, uint32(2*(j-1))
			}
			a.vector(gather(m.z, active, from, word))
			a.vector(gather(m.q, active, from, word+1))
		}
		a.fours(dir)
		for j := range 4 {
			a.vector(scatter(zReg(j), active, zX, uint32(4*j)))
		}
		for j, z := range []zReg{zX, zFirst, zSecond} {
			add := ddd("add", z, z, zStepX+zReg(j))
			add.kind = control
			a.vector(add)
		}
		a.scalar("SUBS R%d, R%d", xNTTLanes, blocks)
	})
	a.scalar("RET")
}

// nttStride1 writes nttMiddle for stride 1. Each lane has a block, which loads of structures spread
// over the registers. To reversed order it is the last pass, whose elements are canonical.
func (a *assembly) nttStride1(dir direction, label string) {
	const x, blocks, first, second, four, two, fourLanes, twoLanes xReg = 0, 1, 2, 3, 4, 5, 6, 7
	a.nttHead(label, signatureOfStride, "x blocks first second")
	a.vector(cntd(xNTTLanes))
	a.scalar("LSL $1, R%d, R%d", xNTTLanes, twoLanes)
	a.scalar("LSL $2, R%d, R%d", xNTTLanes, fourLanes)
	// Words of a block: 4 elements, and multipliers of 2 and of 4.
	a.scalar("MOVD ZR, R%d", two)
	a.scalar("MOVD ZR, R%d", four)
	a.loop(label+"Loop", "BGT", func() {
		a.vector(whilelo(active, 31, blocks))
		a.vector(ld4d(0, active, x, four))
		a.vector(ld2d(nttMultipliers[0].z, active, first, two))
		a.vector(ld4d(nttMultipliers[1].z, active, second, four))
		a.fours(dir)
		if dir.to {
			for j := range zReg(4) {
				a.canonical(j, nttFree)
			}
		}
		a.vector(st4d(0, active, x, four))
		a.scalar("ADD R%d, R%d", twoLanes, two)
		a.scalar("ADD R%d, R%d", fourLanes, four)
		a.scalar("SUBS R%d, R%d", xNTTLanes, blocks)
	})
	a.scalar("RET")
}

// lanes writes the function that returns the number of lanes.
func (a *assembly) lanes() {
	a.line("\n// func lanes() int")
	a.line("TEXT ·lanes(SB), NOSPLIT, $0-8")
	a.vector(cntd(xNTTLanes))
	a.scalar("MOVD R%d, ret+0(FP)", xNTTLanes)
	a.scalar("RET")
}
