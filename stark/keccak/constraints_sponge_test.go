package keccak

import (
	"strings"
	"testing"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/starktest"
	"github.com/zkbench/zkbench/stark"
)

// plantSponges plants traces of the table of sponges, and claims of which it then says that they are true. The
// statement answers with the permutations that the rows ask for.
func plantSponges(t *testing.T, planted map[string]func() starktest.Planted) {
	table := must.Get(NewSpongeTable(config(stark.KoalaBear), stark.Exposed))(t)
	s := table.sponge
	text := func(n int) []byte { return []byte(strings.Repeat("forgery ", 50)[:n]) }
	// forged is a trace of messages that is changed, with a claim for each.
	type forged struct {
		blocks []absorbed
		claims []Claim
		cells  func(cells *stark.Cells)
		about  func(about *stark.Statement)
	}
	plant := func(kind string, messages [][]byte, forge func(f *forged)) {
		planted["sponges: "+kind] = func() starktest.Planted {
			f := forged{blocks: absorb(messages), claims: Claims(messages, stark.Exposed), cells: func(*stark.Cells) {}, about: func(*stark.Statement) {}}
			forge(&f)
			about := stark.Statement{
				Forms:    []stark.Form{table.heights(len(f.blocks))},
				Messages: append(must.Get(s.claimed(f.claims))(t), must.Get(s.exchange(permuted(f.blocks), 1))(t)...),
			}
			f.about(&about)
			return starktest.Planted{System: table.System, Traces: []stark.Trace{then(s.trace(about.Forms[0][0], f.blocks, len(messages)), f.cells)}, About: about}
		}
	}
	// goOn has blocks from i on follow from the ones before, and the last digest be claimed.
	goOn := func(f *forged, i int) {
		for ; i < len(f.blocks); i++ {
			f.blocks[i].out = Permute(f.blocks[i].in()).Out
			if i+1 < len(f.blocks) {
				f.blocks[i+1].old = f.blocks[i].out
			}
		}
		claimLast(f.claims, f.blocks)
	}
	one, two := [][]byte{text(20)}, [][]byte{text(200)}

	plant("number begins", one, func(f *forged) {
		f.cells = func(cells *stark.Cells) {
			for row := range cells.Rows() {
				*cell(cells, row, s.number()) += 3
			}
		}
		f.about = func(about *stark.Statement) {
			for i := range about.Messages[1:] {
				about.Messages[1+i].Tuple[0] += 3
			}
		}
	})
	plant("number counts", two, func(f *forged) { // the second block asks for permutation 5
		f.cells = func(cells *stark.Cells) { *cell(cells, 1, s.number()) = 5 }
		f.about = func(about *stark.Statement) {
			for _, m := range about.Messages[3:] {
				m.Tuple[0] = 5
			}
		}
	})
	plant("message begins", one, func(f *forged) {
		f.cells = func(cells *stark.Cells) {
			for row := range cells.Rows() {
				*cell(cells, row, s.message()) += 2
			}
		}
		f.about = func(about *stark.Statement) { about.Messages[0].Tuple[0] = 2 }
	})
	plant("message counts", [][]byte{text(1), text(2), text(3)}, func(f *forged) { // two claims are exchanged
		f.claims[1], f.claims[2] = f.claims[2], f.claims[1]
		f.cells = func(cells *stark.Cells) {
			*cell(cells, 1, s.message()), *cell(cells, 2, s.message()) = 2, 1
		}
	})
	plant(`asks "keccak-f in" once at most`, one, func(f *forged) { // twice
		f.cells = func(cells *stark.Cells) { *cell(cells, 0, s.real()) = 2 }
		f.about = func(about *stark.Statement) {
			for i := range about.Messages {
				about.Messages[i].Times *= 2
			}
		}
	})
	plant("rows of messages stand before others", two, func(f *forged) {
		// The first block asks for no permutation, and the second goes on from any state: that before the permutation
		// whose digest is wanted could be computed.
		f.blocks[0].out = someState(5)
		f.blocks[1].old = f.blocks[0].out
		goOn(f, 1)
		f.cells = func(cells *stark.Cells) { *cell(cells, 0, s.real()) = 0 }
		f.about = func(about *stark.Statement) { about.Messages = append(about.Messages[:1], about.Messages[3:]...) }
	})
	plant("a message ends before other rows", [][]byte{text(20), text(200)}, func(f *forged) { // the second does not end
		f.claims = f.claims[:1]
		f.cells = func(cells *stark.Cells) { *cell(cells, 2, s.real()) = 0 }
		f.about = func(about *stark.Statement) { about.Messages = about.Messages[:5] }
	})
	long := [][]byte{text(20), make([]byte, leastRows*keccak.Rate)}
	plant("a message ends before the table does", long, func(f *forged) {
		f.blocks, f.claims = f.blocks[:leastRows], f.claims[:1]
	})
	plant("bytes before the first block", one, func(f *forged) {
		f.blocks[0].before, f.claims[0].Length = 100, 120
	})
	plant("bytes before a block", two, func(f *forged) {
		f.blocks[1].before, f.claims[0].Length = 0, 64
	})
	plant("block bit # is a bit", one, func(f *forged) { // 2 and 0, for the 0 and 1 of bits 3 and 4 of a byte
		at := bitPair(t, f.blocks[0].block, 8*20)
		f.cells = func(cells *stark.Cells) { *cell(cells, 0, s.bit(at)), *cell(cells, 0, s.bit(at+1)) = 2, 0 }
	})
	plant("rate bit # is a bit", [][]byte{text(180)}, func(f *forged) { // of the state 2 and 0, for 0 and 1
		b := &f.blocks[1]
		at := -1
		for i := range 8 * 44 { // bytes of the message
			bit := func(lanes [keccak.Lanes]uint64, i int) uint64 { return lanes[i/64] >> (i % 64) & 1 }
			if i%s.limbBits < s.limbBits-2 && bit(b.old, i) == 0 && bit(b.old, i+1) == 1 && bit(b.block, i) == 0 && bit(b.block, i+1) == 1 && bit(b.in(), i+2) == 0 {
				at = i
			}
		}
		if at < 0 {
			t.Fatal("no such bits")
		}
		// 2 ⊕ 0 is 2 and 0 ⊕ 1 is 1, so that the state that is permuted has 4 there in place of 0.
		in := b.in()
		in[at/64] ^= 4 << (at % 64)
		states := Permute(in)
		b.out = states.Out
		claimLast(f.claims, f.blocks)
		f.cells = func(cells *stark.Cells) { *cell(cells, 1, s.rate(at)), *cell(cells, 1, s.rate(at+1)) = 2, 0 }
		f.about = func(about *stark.Statement) { about.Messages[3].Tuple = s.split([]uint64{1}, in[:]...) }
	})
	plant("byte # within only behind such", one, func(f *forged) { // byte 7 is taken for padding, and those behind are not
		block := f.blocks[0].block
		block[0] = block[0]&^(0xff<<56) | keccak.Keccak256<<56
		f.blocks[0].block = block
		goOn(f, 0)
		f.claims[0].Length--
		f.cells = func(cells *stark.Cells) { *cell(cells, 0, s.within(7)) = 0 }
	})
	plant("padding, byte # bit #", one, func(f *forged) {
		f.blocks[0].block[10] ^= 1 << 30
		goOn(f, 0)
	})
	plant("state begins, lane # limb #", one, func(f *forged) {
		f.blocks[0].old[20] = 7
		goOn(f, 0)
	})
	plant("state goes on, lane # limb #", two, func(f *forged) {
		f.blocks[1].old[20] ^= 7
		f.blocks[1].out = Permute(f.blocks[1].in()).Out
		claimLast(f.claims, f.blocks)
	})
	plant("bits of the state, lane # limb #", two, func(f *forged) { // the state is taken for zeros where it is absorbed into
		old := f.blocks[1].old
		for lane := range rateLanes {
			f.blocks[1].old[lane] = 0
		}
		f.blocks[1].out = Permute(f.blocks[1].in()).Out
		claimLast(f.claims, f.blocks)
		f.cells = func(cells *stark.Cells) {
			for i, limb := range s.split(nil, old[:]...) {
				cells.Set(1, s.old(0, i), limb)
			}
		}
	})
	plant(`asks "keccak-f in"`, one, func(f *forged) { // the state after is that of another
		f.blocks[0].out = Permute(someState(6)).Out
		claimLast(f.claims, f.blocks)
		f.about = func(about *stark.Statement) { about.Messages = append(about.Messages[:1], about.Messages[2]) }
	})
	plant(`asks "keccak-f out"`, one, func(f *forged) { // the state after is any
		f.blocks[0].out = someState(7)
		claimLast(f.claims, f.blocks)
		f.about = func(about *stark.Statement) { about.Messages = about.Messages[:2] }
	})
	plant(`answers "hash"`, one, func(f *forged) {
		f.about = func(about *stark.Statement) { about.Messages = about.Messages[1:] }
	})
	public := must.Get(NewSpongeTable(config(stark.KoalaBear), stark.Public))(t)
	planted[`sponges: answers "message"`] = func() starktest.Planted {
		about := must.Get(public.Statement(Claims(one, stark.Public), Permutations(one), nil))(t)
		about.Messages = append(about.Messages[:1], about.Messages[2:]...)
		return starktest.Planted{System: public.System, Traces: []stark.Trace{public.sponge.trace(about.Forms[0][0], absorb(one), 1)}, About: about}
	}
}

// claimLast claims, of the last message, the digest that its last block gives.
func claimLast(claims []Claim, blocks []absorbed) {
	out := blocks[len(blocks)-1].out
	for i := range claims[len(claims)-1].Digest {
		claims[len(claims)-1].Digest[i] = byte(out[i/8] >> (i % 8 * 8))
	}
}

// bitPair is the place of a 0 below a 1, in one byte, among the first bits.
func bitPair(t *testing.T, lanes [keccak.Lanes]uint64, n int) int {
	t.Helper()
	for i := range n {
		if i%8 < 7 && lanes[i/64]>>(i%64)&3 == 2 {
			return i
		}
	}
	t.Fatal("no bits 0 and 1")
	return 0
}
