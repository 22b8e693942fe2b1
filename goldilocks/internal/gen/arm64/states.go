package arm64

// stateFunction is an operation on states of twelve elements that computes the four elements of a
// quarter, with 12 or 48 constants that all states share. Each lane has one state.
type stateFunction struct {
	name, constants string
	before          func(a *assembly) // loads the constants that stay in registers
	body            func(a *assembly)
}

var stateFunctions = []stateFunction{
	{name: "spmv", constants: "b", before: (*assembly).loadConstants, body: func(a *assembly) {
		for i := range quarterLen {
			s := wideSum{16, 17, 18, 19}
			a.gather(s[0], i)
			a.setProduct(s, zReg(i))
			for j := i + quarterLen; j < width; j += quarterLen {
				a.gather(20, j)
				a.addProduct(s, 20, zReg(j), 21)
			}
			a.lazySum(s, 20)
			a.store(s[0], i, 20)
		}
	}},
	{name: "spmvByte", constants: "b", before: (*assembly).loadConstants, body: func(a *assembly) {
		for i := range quarterLen {
			s := byteSum{16, 17}
			a.gather(s[0], i)
			a.upperHalf(s[1], s[0])
			a.setBytes(s, s[0], s[1], zReg(i), 0)
			for j := i + quarterLen; j < width; j += quarterLen {
				a.gather(18, j)
				a.upperHalf(19, 18)
				a.addBytes(s, 18, 19, zReg(j), 0)
			}
			a.lazyBytes(s, 18)
			a.store(s[0], i, 18)
		}
	}},
	{name: "mmult", constants: "columns", body: func(a *assembly) {
		sums := [quarterLen]wideSum{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {16, 17, 18, 19}}
		for j := range width {
			a.gather(20, j)
			for i, s := range sums {
				if j == 0 {
					a.constant(s[0], quarterLen*j+i)
					a.setProduct(s, 20)
				} else {
					a.constant(21, quarterLen*j+i)
					a.addProduct(s, 21, 20, 22)
				}
			}
		}
		for i, s := range sums {
			a.lazySum(s, 20)
			a.store(s[0], i, 20)
		}
	}},
	{name: "mmultByte", constants: "columns", before: (*assembly).packColumns, body: func(a *assembly) {
		sums := [quarterLen]byteSum{{16, 17}, {18, 19}, {20, 21}, {22, 23}}
		for j := range width {
			a.gather(12, j)
			a.upperHalf(13, 12)
			for i, s := range sums {
				y, word := zReg(j), packed(i)
				if !a.sve2 {
					y, word = 14, 0
					a.constant(y, quarterLen*j+i)
				}
				if j == 0 {
					a.setBytes(s, 12, 13, y, word)
				} else {
					a.addBytes(s, 12, 13, y, word)
				}
			}
		}
		for i, s := range sums {
			a.lazyBytes(s, 12)
			a.store(s[0], i, 12)
		}
	}},
}

const (
	quarterLen = 4

	// General registers of the functions of states.
	xShared    xReg = 2 // the constants
	xStates    xReg = 3 // that are left
	xStateSize xReg = 4 // in bytes
	xQuarter   xReg = 5
	xStateStep xReg = 6 // those of a register of states
	xStep      xReg = 7

	// And vectors: the addresses of each lane's state and quarter, and what makes a
	// difference positive.
	zState    zReg = 24
	zQuarter  zReg = 25
	zBiasLow  zReg = 28
	zBiasHigh zReg = 29
)

// stateFunction writes a loop over registers of states; the last register may be partly filled. The
// function is func(dst, a, constants *uint64, n int).
func (a *assembly) stateFunction(f stateFunction) {
	label := f.name + a.suffix()
	a.line("\n// func %s(dst, a, %s *uint64, n int)", label, f.constants)
	a.line("TEXT ·%s(SB), NOSPLIT, $0-32", label)
	a.scalar("MOVD dst+0(FP), R%d", xDst)
	a.scalar("MOVD a+8(FP), R%d", xSrc)
	a.scalar("MOVD %s+16(FP), R%d", f.constants, xShared)
	a.scalar("MOVD n+24(FP), R%d", xStates)
	a.constants(xScratch)
	a.scalar("MOVD $%d, R%d", uint64(biasLow), xScratch)
	a.vector(dupX(zBiasLow, xScratch))
	a.scalar("MOVD $%d, R%d", uint64(biasHigh), xScratch)
	a.vector(dupX(zBiasHigh, xScratch))
	a.scalar("MOVD $%d, R%d", 8*width, xStateSize)
	a.scalar("MOVD $%d, R%d", 8*quarterLen, xQuarter)
	a.vector(cntd(xLanes))
	a.scalar("MUL R%d, R%d, R%d", xStateSize, xLanes, xStateStep)
	a.scalar("MUL R%d, R%d, R%d", xQuarter, xLanes, xStep)
	if f.before != nil {
		f.before(a)
	}
	a.loop(label+"Loop", "BGT", func() {
		a.vector(whilelo(active, 31, xStates))
		a.vector(index(zState, xSrc, xStateSize))
		a.vector(index(zQuarter, xDst, xQuarter))
		f.body(a)
		a.scalar("ADD R%d, R%d", xStateStep, xSrc)
		a.scalar("ADD R%d, R%d", xStep, xDst)
		a.scalar("SUBS R%d, R%d", xLanes, xStates)
	})
	a.scalar("RET")
}

// gather loads element number element of all states.
func (a *assembly) gather(z zReg, element int) {
	a.vector(gather(z, active, zState, uint32(element)))
}

// store stores element number element of all quarters. It overwrites z and t.
func (a *assembly) store(z zReg, element int, t zReg) {
	a.canonical(z, t)
	a.vector(scatter(z, active, zQuarter, uint32(element)))
}

// constant loads one constant into all lanes.
func (a *assembly) constant(z zReg, number int) {
	a.vector(ld1rd(z, every, xShared, uint32(number)))
}

// loadConstants loads twelve constants, to z0 upwards.
func (a *assembly) loadConstants() {
	for i := range width {
		a.constant(zReg(i), i)
	}
}

// packColumns loads the matrix's columns, of four constants below 2^32 each, to z0 upwards, as the
// four words of each 128 bits. Only version 2 of the extension multiplies by words.
func (a *assembly) packColumns() {
	if !a.sve2 {
		return
	}
	const t = 12
	for j := range width {
		a.vector(ld1rqd(zReg(j), every, xShared, 0))
		a.vector(ld1rqd(t, every, xShared, 1))
		a.vector(shift("lsl", t, t, 32))
		a.vector(ddd("add", zReg(j), zReg(j), t))
		a.scalar("ADD $%d, R%d", 8*quarterLen, xShared)
	}
}

// packed returns the word in which packColumns leaves a row's constant.
func packed(row int) uint32 { return uint32(row%2*2 + row/2) }
