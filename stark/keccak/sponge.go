package keccak

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// The table of sponges has one row for each block, with all messages one after the other. A row has the state
// before the block in limbs, and the bits of its rate. It has the bits of the block, padding included. It
// also has the state that the permutation gives, with which the next block of the message begins.

const (
	busHash  = "hash"    // number of a message, its length, its digest
	busBlock = "message" // number of a message, of bytes before the block, the block
)

// sponge says where the table's columns are.
type sponge struct {
	permutation
	messages stark.Visibility
}

// public reports whether messages are part of statements, in addition to lengths and digests.
func (s sponge) public() bool { return s.messages == stark.Public }

// Sizes of a block.
const (
	rateBits  = 8 * keccak.Rate
	rateLanes = keccak.Rate / 8
)

// The columns. Those that are read in the next row come first.
func (s sponge) number() int  { return 0 } // number of the row, and of its permutation
func (s sponge) message() int { return 1 } // number of the message
func (s sponge) before() int  { return 2 } // bytes of the message in blocks before this one
func (s sponge) real() int    { return 3 } // 1 if the row is of a message
func (s sponge) old(lane, limb int) int {
	return 4 + lane*s.limbs() + limb
}
func (s sponge) rate(i int) int { return s.old(keccak.Lanes, 0) + i }
func (s sponge) out(lane, limb int) int {
	return s.rate(rateBits) + lane*s.limbs() + limb
}
func (s sponge) bit(i int) int { return s.out(keccak.Lanes, 0) + i }

// within returns the column that is 1 if byte i belongs to the message, and 0 if it is padding. Byte 135 is
// padding in a message's last block only.
func (s sponge) within(i int) int { return s.bit(rateBits) + i }
func (s sponge) columns() int     { return s.within(keccak.Rate) }

func (s sponge) table() *air.Table {
	return &air.Table{Name: "sponges", Columns: s.columns(), State: s.state}
}

func (s sponge) state(b *air.Builder) {
	here, next := b.Here, b.Next
	one := air.Constant(1)
	count := func(name string, column int, more air.Expr) {
		b.Zero(air.First, name+" begins", here(column))
		b.Zero(air.Transition, name+" counts", next(column).Sub(here(column)).Sub(more))
	}
	goesOn := here(s.within(keccak.Rate - 1)) // whether the message continues in the next block
	last := one.Sub(goesOn)
	count("number", s.number(), one)
	count("message", s.message(), last)
	b.Zero(air.Transition, "rows of messages stand before others", next(s.real()).Mul(one.Sub(here(s.real()))))
	unfinished := here(s.real()).Mul(goesOn)
	b.Zero(air.Transition, "a message ends before other rows", unfinished.Mul(one.Sub(next(s.real()))))
	b.Zero(air.Last, "a message ends before the table does", unfinished)
	b.Zero(air.First, "bytes before the first block", here(s.before()))
	b.Zero(air.Transition, "bytes before a block", next(s.before()).Sub(goesOn.Mul(here(s.before()).Plus(keccak.Rate))))

	// The block: the message's bytes, then the padding.
	var block, rate []air.Expr
	for i := range rateBits {
		for _, part := range []struct {
			name   string
			column int
			all    *[]air.Expr
		}{{"block", s.bit(i), &block}, {"rate", s.rate(i), &rate}} {
			e := here(part.column)
			b.Zero(air.Everywhere, fmt.Sprintf("%s bit %d is a bit", part.name, i), e.Bool())
			*part.all = append(*part.all, e)
		}
	}
	// The flag that a byte is within the message is a bit. By "only behind such", the flag is 0 or the byte
	// before is within. In the latter case, padding makes it 1, or makes the byte's first bit 1 minus the
	// flag.
	var length air.Expr
	before := one // whether the byte before is the message's
	for i := range keccak.Rate {
		within := here(s.within(i))
		if i > 0 {
			b.Zero(air.Everywhere, fmt.Sprintf("byte %d within only behind such", i), within.Mul(one.Sub(before)))
		}
		for j := range 8 {
			var padding air.Expr
			if j == 0 { // the padding begins with a one
				padding = before.Sub(within)
			}
			if i == keccak.Rate-1 && j == 7 { // and ends with one
				padding = one
			}
			b.Zero(air.Everywhere, fmt.Sprintf("padding, byte %d bit %d", i, j), one.Sub(within).Mul(block[8*i+j].Sub(padding)))
		}
		length = length.Add(within)
		before = within
	}

	// The state: zeros at first, then what the permutation gave.
	in := []air.Expr{here(s.number())}
	out := []air.Expr{here(s.number())}
	var digest []air.Expr
	for lane := range keccak.Lanes {
		for limb := range s.limbs() {
			name := fmt.Sprintf("lane %d limb %d", lane, limb)
			after := here(s.out(lane, limb))
			out = append(out, after)
			if lane < keccak.Digest/8 {
				digest = append(digest, after)
			}
			old := here(s.old(lane, limb))
			b.Zero(air.First, "state begins, "+name, old)
			b.Zero(air.Transition, "state goes on, "+name, next(s.old(lane, limb)).Sub(goesOn.Mul(after)))
			if lane >= rateLanes {
				in = append(in, old)
				continue
			}
			var bits, absorbed []air.Expr
			for i := range s.limbBits {
				at := lane*keccak.LaneBits + limb*s.limbBits + i
				bits = append(bits, rate[at])
				absorbed = append(absorbed, rate[at].Xor(block[at]))
			}
			b.Zero(air.Everywhere, "bits of the state, "+name, old.Sub(air.Pack(bits)))
			in = append(in, air.Pack(absorbed))
		}
	}
	isReal, ends := here(s.real()), here(s.real()).Mul(last)
	b.Ask(busIn, isReal, in...)
	b.Ask(busOut, isReal, out...)
	b.Answer(busHash, ends, append([]air.Expr{here(s.message()), here(s.before()).Add(length)}, digest...)...)
	if s.public() {
		words := []air.Expr{here(s.message()), here(s.before())}
		for i := 0; i < rateBits; i += s.limbBits {
			words = append(words, air.Pack(block[i:i+s.limbBits]))
		}
		b.Answer(busBlock, isReal, words...)
	}
}

// absorbed is one block of a message.
type absorbed struct {
	message, before int
	bytes           int // number of the message's bytes in the block: fewer than keccak.Rate in the last
	old, block      [keccak.Lanes]uint64
	out             [keccak.Lanes]uint64
}

// absorb returns all blocks of all messages.
func absorb(messages [][]byte) (all []absorbed) {
	for m, message := range messages {
		var state [keccak.Lanes]uint64
		padded := keccak.Padded(keccak.Keccak256, message)
		for before := 0; before < len(padded); before += keccak.Rate {
			a := absorbed{
				message: m, before: before,
				bytes: min(len(message)-before, keccak.Rate), old: state,
			}
			copy(a.block[:], lanes(padded[before:][:keccak.Rate]))
			state = Permute(a.input()).Out
			a.out = state
			all = append(all, a)
		}
	}
	return all
}

// lanes converts bytes to lanes, eight bytes each.
func lanes(data []byte) (all []uint64) {
	for ; len(data) > 0; data = data[8:] {
		all = append(all, binary.LittleEndian.Uint64(data))
	}
	return all
}

// input returns the state that the block's permutation takes.
func (a *absorbed) input() (state [keccak.Lanes]uint64) {
	for lane := range state {
		state[lane] = a.old[lane] ^ a.block[lane]
	}
	return state
}

// Permutations returns the permutations of Keccak-f that the hashes of the messages need, one for each
// block. They are in the order of the messages.
func Permutations(messages [][]byte) []States { return permuted(absorb(messages)) }

// permuted returns the states around the permutation of each block.
func permuted(blocks []absorbed) []States {
	states := make([]States, len(blocks))
	for i := range blocks {
		states[i] = States{blocks[i].input(), blocks[i].out}
	}
	return states
}

// maxLength is far below both fields' orders, so that lengths are counted without overflow.
const maxLength = 1 << 28

// blocksOf returns the number of blocks of the claims' messages.
func blocksOf(claims []Claim) (n int) {
	for _, c := range claims {
		n += keccak.Blocks(c.Length)
	}
	return n
}

// claimed returns a statement's messages about claims. For each claim it asks for what the sponges answer
// when the last block is absorbed and, if messages are public, for all blocks. It returns zkbench.ErrParams
// if there are no claims or a claim is invalid.
func (s sponge) claimed(claims []Claim) (messages []stark.Message, err error) {
	if len(claims) == 0 {
		return nil, fmt.Errorf("%w: no message", zkbench.ErrParams)
	}
	ask := func(bus string, number, length int, data []byte) {
		tuple := s.split([]uint64{uint64(number), uint64(length)}, lanes(data)...)
		messages = append(messages, stark.Message{Bus: bus, Times: -1, Tuple: tuple})
	}
	for i, c := range claims {
		if c.Length < 0 || c.Length > maxLength || s.public() != (c.Message != nil) || s.public() && len(c.Message) != c.Length {
			return nil, fmt.Errorf("%w: message %d has %d bytes, %d of them public, accepted are up to %d, all of them public if messages are public, and none otherwise", zkbench.ErrParams, i, c.Length, len(c.Message), maxLength)
		}
		ask(busHash, i, c.Length, c.Digest[:])
		if !s.public() {
			continue
		}
		padded := keccak.Padded(keccak.Keccak256, c.Message)
		for before := 0; before < len(padded); before += keccak.Rate {
			ask(busBlock, i, before, padded[before:][:keccak.Rate])
		}
	}
	return messages, nil
}

// rows returns the number of rows of the given blocks.
func (sponge) rows(blocks int) int { return blocks }

// trace returns a trace with a row for each block. Rows of no message follow, each a whole empty message.
func (s sponge) trace(height int, blocks []absorbed, messages int) stark.Trace {
	return stark.Trace{Rows: height, Fill: func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		set := func(row, column int, v uint64) { cells.Set(row, column, v) }
		return ex.Do(ctx, cells.Rows(), func(_ context.Context, row int) error {
			a := absorbed{message: messages + row - len(blocks)}
			a.block[0], a.block[rateLanes-1] = keccak.Keccak256, 1<<63
			if row < len(blocks) {
				a = blocks[row]
				set(row, s.real(), 1)
			}
			set(row, s.number(), uint64(row))
			set(row, s.message(), uint64(a.message))
			set(row, s.before(), uint64(a.before))
			for i := range rateBits {
				set(row, s.rate(i), a.old[i/64]>>(i%64)&1)
				set(row, s.bit(i), a.block[i/64]>>(i%64)&1)
			}
			for i := range a.bytes {
				set(row, s.within(i), 1)
			}
			mask := uint64(1)<<s.limbBits - 1
			for lane := range keccak.Lanes {
				for limb := range s.limbs() {
					set(row, s.out(lane, limb), a.out[lane]>>(limb*s.limbBits)&mask)
					set(row, s.old(lane, limb), a.old[lane]>>(limb*s.limbBits)&mask)
				}
			}
			return nil
		})
	}}
}
