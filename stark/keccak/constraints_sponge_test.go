package keccak

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/internal/starktest"
)

// plantSponges plants traces of the table of sponges, with claims that are true according to them. The
// statement answers with the permutations that the rows ask for.
func plantSponges(t *testing.T, forgeries starktest.Forgeries) {
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
	planted := func(messages [][]byte, forge func(f *forged)) starktest.Planted {
		f := forged{blocks: absorb(messages), claims: Claims(messages, stark.Exposed), cells: func(*stark.Cells) {}, about: func(*stark.Statement) {}}
		forge(&f)
		about := stark.Statement{
			Forms:    []stark.Form{table.heights(len(f.blocks))},
			Messages: append(must.Get(s.claimed(f.claims))(t), must.Get(s.exchange(permuted(f.blocks), 1))(t)...),
		}
		f.about(&about)
		return starktest.Planted{System: table.System, Traces: []stark.Trace{then(s.trace(about.Forms[0][0], f.blocks, len(messages)), f.cells)}, About: about}
	}
	plant := func(kind string, messages [][]byte, forge func(f *forged)) {
		forgeries.Planted["sponges: "+kind] = func() starktest.Planted { return planted(messages, forge) }
	}
	// each is of a change by the numbers in a constraint's name.
	each := func(kind, format string, change func(a, b int) starktest.Planted) {
		forgeries.Each["sponges: "+kind] = func(name string) starktest.Planted {
			var a, b int
			to := []any{&a, &b}[:strings.Count(format, "%d")]
			if _, err := fmt.Sscanf(name, format, to...); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return change(a, b)
		}
	}
	// goOn has blocks from i on follow from the ones before, and the last digest be claimed.
	goOn := func(f *forged, i int) {
		for ; i < len(f.blocks); i++ {
			f.blocks[i].out = Permute(f.blocks[i].input()).Out
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
	lowest := func(limb int) uint64 { return 1 << (limb * s.limbBits) }
	limbOf := func(bit int) int { return bit / s.limbBits }
	each("block bit # is a bit", "block bit %d is a bit", func(i, _ int) starktest.Planted { // 2, of a byte of the message
		return planted(two, func(f *forged) {
			was := f.blocks[0].block[i/64] >> (i % 64) & 1
			f.cells = func(cells *stark.Cells) { *cell(cells, 0, s.bit(i)) = 2 }
			f.about = func(about *stark.Statement) { about.Messages[1].Tuple[1+limbOf(i)] += (2 - was) << (i % s.limbBits) }
		})
	})
	each("rate bit # is a bit", "rate bit %d is a bit", func(i, _ int) starktest.Planted {
		// In the limb of the state another bit is changed, and this one is what makes up for it.
		return planted(two, func(f *forged) {
			old, block := f.blocks[1].old, f.blocks[1].block
			first := limbOf(i) * s.limbBits
			digits := make([]uint64, s.limbBits)
			for k := range digits {
				digits[k] = old[(first+k)/64] >> ((first + k) % 64) & 1
			}
			at := i - first
			other := (at + 1) % s.limbBits
			power := func(k int) uint64 { return 1 << k % order }
			more := power(other) // what the limb lacks
			if digits[other] == 0 {
				more = order - more
			}
			digits[other] ^= 1
			digits[at] = (digits[at] + more*inverse(power(at))) % order
			in := uint64(0)
			for k, d := range digits {
				b := block[(first+k)/64] >> ((first + k) % 64) & 1
				in = (in + (d+b+2*(order-d)*b)%order*power(k)) % order
			}
			f.cells = func(cells *stark.Cells) {
				for k, d := range digits {
					*cell(cells, 1, s.rate(first+k)) = uint32(d)
				}
			}
			f.about = func(about *stark.Statement) { about.Messages[3].Tuple[1+limbOf(i)] = in }
		})
	})
	each("byte # within only behind such", "byte %d within only behind such", func(i, _ int) starktest.Planted {
		// The byte before is taken for padding, and those behind are not.
		message, less := [][]byte{text(keccak.Rate - 1)}, 1
		if i == keccak.Rate-1 { // which is within in blocks that are not counted byte by byte
			message, less = two, 0
		}
		return planted(message, func(f *forged) {
			hole := &f.blocks[0].block[(i-1)/8]
			shift := (i - 1) % 8 * 8
			*hole = *hole&^(0xff<<shift) | keccak.Keccak256<<shift
			goOn(f, 0)
			f.claims[0].Length -= less
			f.cells = func(cells *stark.Cells) { *cell(cells, 0, s.within(i-1)) = 0 }
		})
	})
	each("padding, byte # bit #", "padding, byte %d bit %d", func(i, bit int) starktest.Planted {
		return planted([][]byte{nil}, func(f *forged) {
			f.blocks[0].block[i/8] ^= 1 << (i%8*8 + bit)
			goOn(f, 0)
		})
	})
	each("state begins, lane # limb #", "state begins, lane %d limb %d", func(lane, limb int) starktest.Planted {
		return planted(one, func(f *forged) {
			f.blocks[0].old[lane] = lowest(limb)
			goOn(f, 0)
		})
	})
	each("state goes on, lane # limb #", "state goes on, lane %d limb %d", func(lane, limb int) starktest.Planted {
		return planted(two, func(f *forged) {
			f.blocks[1].old[lane] ^= lowest(limb)
			f.blocks[1].out = Permute(f.blocks[1].input()).Out
			claimLast(f.claims, f.blocks)
		})
	})
	each("bits of the state, lane # limb #", "bits of the state, lane %d limb %d", func(lane, limb int) starktest.Planted {
		return planted(two, func(f *forged) { // the state is taken for another where it is absorbed into
			old := f.blocks[1].old
			f.blocks[1].old[lane] ^= lowest(limb)
			f.blocks[1].out = Permute(f.blocks[1].input()).Out
			claimLast(f.claims, f.blocks)
			f.cells = func(cells *stark.Cells) {
				cells.Set(1, s.old(lane, limb), old[lane]>>(limb*s.limbBits)&(1<<s.limbBits-1))
			}
		})
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
	forgeries.Planted[`sponges: answers "message"`] = func() starktest.Planted {
		about := must.Get(public.Statement(Claims(one, stark.Public), Permutations(one), nil))(t)
		about.Messages = append(about.Messages[:1], about.Messages[2:]...)
		return starktest.Planted{System: public.System, Traces: []stark.Trace{public.sponge.trace(about.Forms[0][0], absorb(one), 1)}, About: about}
	}
}

// claimLast claims that the last message has the digest of its last block.
func claimLast(claims []Claim, blocks []absorbed) {
	out := blocks[len(blocks)-1].out
	for i := range claims[len(claims)-1].Digest {
		claims[len(claims)-1].Digest[i] = byte(out[i/8] >> (i % 8 * 8))
	}
}

// inverse returns the inverse of a number below KoalaBear's order.
func inverse(x uint64) uint64 {
	product := uint64(1)
	for e := uint64(order - 2); e > 0; e >>= 1 {
		if e&1 == 1 {
			product = product * x % order
		}
		x = x * x % order
	}
	return product
}
