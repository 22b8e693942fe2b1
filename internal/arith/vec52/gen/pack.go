package main

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/arith/asm"
)

// words returns the number of 64-bit words of a coordinate in an entry. An entry is a point in as few words as
// possible: x, then y, each below p.
func (b *block) words() int { return map[int]int{5: 4, 8: 6}[int(b.limbs)] }

// transposed transposes eight rows of eight words: column k has word k of every row. It computes only the columns
// in wanted.
func (b *block) transposed(rows []asm.Value, wanted ...int) (columns [8]asm.Value) {
	low, high := map[string]string{"l": "VPUNPCKLQDQ", "h": "VPUNPCKHQDQ"}, map[bool]int{false: 0x88, true: 0xdd}
	// Intermediate values by their key, so that each is computed once, and only if a wanted column needs it.
	made := map[string]asm.Value{}
	get := func(key string, make func() asm.Value) asm.Value {
		if v, ok := made[key]; ok {
			return v
		}
		v := make()
		made[key] = v
		return v
	}
	pair := func(half string, i int) asm.Value { // words 0, 2, 4, 6 or 1, 3, 5, 7 of rows i and i+1
		return get(fmt.Sprint(half, i), func() asm.Value { return b.Op(low[half], rows[i+1], rows[i]) })
	}
	four := func(half string, i int, odd bool) asm.Value {
		return get(fmt.Sprint(half, i, odd), func() asm.Value {
			return b.Immediate("VSHUFI64X2", high[odd], pair(half, i+2), pair(half, i))
		})
	}
	for _, k := range wanted {
		half := map[bool]string{false: "l", true: "h"}[k%2 == 1]
		odd := k/2%2 == 1
		columns[k] = b.Immediate("VSHUFI64X2", high[k/4 == 1], four(half, 4, odd), four(half, 0, odd))
	}
	return columns
}

// limbsOf cuts words of 64 bits into limbs of 52.
func (b *block) limbsOf(words []asm.Value) (e element) {
	for i := range int(b.limbs) {
		k, bit := 52*i/64, 52*i%64
		switch {
		case bit == 0:
			e = append(e, b.WithConstant("VPANDQ", mask, words[k]))
		case k == len(words)-1:
			e = append(e, b.Immediate("VPSRLQ", bit, words[k]))
		case bit <= 12:
			e = append(e, b.WithConstant("VPANDQ", mask, b.Immediate("VPSRLQ", bit, words[k])))
		default: // (low | high) & mask
			low, high := b.Immediate("VPSRLQ", bit, words[k]), b.Immediate("VPSLLQ", 64-bit, words[k+1])
			e = append(e, b.Emit(asm.Step{
				Mnemonic: "VPTERNLOGQ", Before: "$0xa8, ",
				Sources: []asm.Operand{{Text: "=" + mask}, asm.ValueOperand(high), asm.ValueOperand(low)}, Merge: true, Hidden: true,
			}))
		}
	}
	return e
}

// wordsOf packs limbs of 52 bits into words of 64.
func (b *block) wordsOf(e element) (words []asm.Value) {
	for k := range b.words() {
		word := none
		for i, v := range e {
			shift := 52*i - 64*k
			switch {
			case shift <= -52 || shift >= 64:
				continue
			case shift < 0:
				v = b.Immediate("VPSRLQ", -shift, v)
			case shift > 0:
				v = b.Immediate("VPSLLQ", shift, v)
			}
			if word != none {
				v = b.Op("VPORQ", v, word)
			}
			word = v
		}
		words = append(words, word)
	}
	return words
}

// canonical reduces e, which must be below 2p, to below p.
func (b *block) canonical(e element) (z element) {
	var t element
	for i, v := range e {
		p := b.Broadcast(constant(b.limbs.P(i)))
		t = append(t, b.Op("VPSUBQ", p, v))
	}
	t = b.carried(t)
	last := t[len(t)-1]
	// All bits are set if x < p.
	below := b.Immediate("VPSRAQ", 63, last)
	for i := range e {
		// below ? e : t
		z = append(z, b.Emit(asm.Step{
			Mnemonic: "VPTERNLOGQ", Before: "$0xca, ",
			Sources: []asm.Operand{asm.ValueOperand(t[i]), asm.ValueOperand(e[i]), asm.ValueOperand(below)}, Merge: true, Hidden: true,
		}))
	}
	return z
}

var all = []int{0, 1, 2, 3, 4, 5, 6, 7}

// gather returns a function that copies eight entries to a place. Bits 0 to 30 of a pick are the entry's index, and
// bit 31 negates the point.
func gather(limbs int) function {
	b := newBlock(limbs)
	f := function{
		name:      fmt.Sprintf("gather%d", limbs),
		arguments: []argument{{"points", "*uint64", "DI"}, {"entries", "*uint64", "SI"}, {"picks", "*uint32", "DX"}},
		block:     b,
	}
	const (
		negated = "K7"
		lanes   = 8
		ahead   = 8 // places
	)
	size := 16 * b.words()
	registers := []string{"R8", "R9", "R10", "R11", "R13", "R14", "R15", "BX"}
	// Entries are anywhere in memory. Those for a place some distance ahead are prefetched, or those for this
	// place if there is none.
	f.before = append(f.before, "XORL R9, R9", fmt.Sprintf("MOVL $%d, R8", 32*ahead), fmt.Sprintf("CMPQ CX, $%d", ahead), "CMOVQLE R9, R8")
	for i := range lanes {
		f.before = append(f.before,
			fmt.Sprintf("MOVL %d(DX)(R8*1), R9", 4*i),
			"ANDL $0x7fffffff, R9",
			fmt.Sprintf("IMUL3Q $%d, R9, R9", size),
			"PREFETCHT0 (SI)(R9*1)")
		if size > 64 {
			f.before = append(f.before, fmt.Sprintf("PREFETCHT0 %d(SI)(R9*1)", size-8))
		}
	}
	var low, high []asm.Value
	for i, r := range registers {
		f.before = append(f.before,
			fmt.Sprintf("MOVL %d(DX), %s", 4*i, r),
			fmt.Sprintf("ANDL $0x7fffffff, %s", r),
			fmt.Sprintf("IMUL3Q $%d, %s, %s", size, r, r))
		low = append(low, b.Load(fmt.Sprintf("(SI)(%s*1)", r)))
		if size > 64 {
			high = append(high, b.Load(fmt.Sprintf("%d(SI)(%s*1)", size-64, r)))
		}
	}
	f.before = append(f.before, "VPCMPD $6, (DX), Y29, "+negated) // 0 > pick
	words := b.transposed(low, all...)
	coordinates := words[:]
	if size > 64 {
		more := b.transposed(high, 4, 5, 6, 7)
		coordinates = append(coordinates, more[4:]...)
	}
	x, y := b.limbsOf(coordinates[:b.words()]), b.limbsOf(coordinates[b.words():])
	for i, v := range y {
		p := b.Broadcast(constant(b.limbs.P(i)))
		y[i] = b.Emit(asm.Step{
			Mnemonic: "VPSUBQ", Sources: []asm.Operand{asm.ValueOperand(v), asm.ValueOperand(p), asm.ValueOperand(v)},
			Mask: negated + ", ", Merge: true, Hidden: true,
		})
	}
	b.store(x, "DI", 0)
	b.store(b.carried(y), "DI", b.bytes())
	b.Schedule()
	f.behind = []string{fmt.Sprintf("ADDQ $%d, DI", 2*b.bytes()), "ADDQ $32, DX"}
	return f
}

// pack returns a function that converts points to entries.
func pack(limbs int) function {
	b := newBlock(limbs)
	words := append(b.wordsOf(b.canonical(b.load("SI", 0))), b.wordsOf(b.canonical(b.load("SI", b.bytes())))...)
	size := 8 * len(words)
	for _, first := range []int{0, len(words) - 8} {
		for i, v := range b.transposed(words[first:first+8], all...) {
			b.Store(v, fmt.Sprintf("%d(DI)", size*i+8*first))
		}
		if size == 64 {
			break
		}
	}
	b.Schedule()
	return function{
		name:      fmt.Sprintf("pack%d", limbs),
		arguments: []argument{{"entries", "*uint64", "DI"}, {"points", "*uint64", "SI"}},
		block:     b,
		behind:    []string{fmt.Sprintf("ADDQ $%d, DI", 8*size), fmt.Sprintf("ADDQ $%d, SI", 2*b.bytes())},
	}
}
