package keccak

import (
	"context"
	"fmt"
	"math/bits"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// The table of permutations has one row for each round. Lanes are x + 5 y, as in hash/keccak. With A the
// state before the round, C the parities of its columns and A' the state after θ, whose parities are C', the
// bits of A', C and C' are columns, and
//
//	C'[x,z] = C[x,z] ⊕ C[x-1,z] ⊕ C[x+1,z-1]
//	A[x,y,z] = A'[x,y,z] ⊕ C[x,z] ⊕ C'[x,z]
//	Σ_y A'[x,y,z] - C'[x,z] is 0, 2 or 4
//
// The third makes C' the parity of A'. By the second, each of five bits of A differs from that of A' by C ⊕
// C', so that the parity of A is C' ⊕ C ⊕ C' = C. ρ and π rename bits, χ has degree 3 in them, and ι changes
// seven bits of one lane, which are columns of their own. C and A' are constrained to bits. The others are
// then bits too: C' by the first equation, because C ⊕ C' is, and those seven by χ. A and the state after the
// round are columns of limbs, which the next round and messages read.

// The names of buses. The table of permutations answers, with one permutation for each number, and the
// sponges ask.
const (
	busIn  = "keccak-f in"  // number of the permutation, state
	busOut = "keccak-f out" // number of the permutation, state after it
)

// States holds the states before and after a permutation. The lane at (x, y) has the index x + 5 y, as in
// hash/keccak.
type States struct{ In, Out [keccak.Lanes]uint64 }

// Permute applies Keccak-f to a state and returns the states before and after.
func Permute(in [keccak.Lanes]uint64) States {
	s, rotations := States{in, in}, keccak.Rotations()
	for _, c := range keccak.RoundConstants() {
		s.Out = newRound(&s.Out, c, &rotations).out
	}
	return s
}

// permutation says where the table's columns are.
type permutation struct {
	limbBits int // number of bits of a limb
}

// newPermutation chooses limbs as long as the field has room for.
func newPermutation(f stark.Field) permutation {
	if f == stark.Goldilocks {
		return permutation{32}
	}
	return permutation{16}
}

// limbs returns the number of limbs of a lane.
func (p permutation) limbs() int { return keccak.LaneBits / p.limbBits }

// split appends the limbs of lanes to a tuple.
func (p permutation) split(tuple []uint64, lanes ...uint64) []uint64 {
	for _, lane := range lanes {
		for range p.limbs() {
			tuple = append(tuple, lane&(1<<p.limbBits-1))
			lane >>= p.limbBits
		}
	}
	return tuple
}

// exchange returns a statement's messages about permutations. With times -1 they are what the sponges ask
// for, and with times 1 what the table of permutations answers. It returns zkbench.ErrParams if there are no
// states.
func (p permutation) exchange(states []States, times int64) (messages []stark.Message, err error) {
	if len(states) == 0 {
		return nil, fmt.Errorf("%w: no states", zkbench.ErrParams)
	}
	for i, s := range states {
		messages = append(messages,
			stark.Message{Bus: busIn, Times: times, Tuple: p.split([]uint64{uint64(i)}, s.In[:]...)},
			stark.Message{Bus: busOut, Times: times, Tuple: p.split([]uint64{uint64(i)}, s.Out[:]...)})
	}
	return messages, nil
}

// The columns, in this order. Those that are read in the next row come first, so that few stacks are opened
// there.
func (p permutation) step(r int) int { return r } // 1 in rows of round r
func (p permutation) number() int    { return keccak.Rounds }
func (p permutation) times() int     { return p.number() + 1 } // how often the row answers; the prover chooses it
func (p permutation) a(lane, limb int) int {
	return p.times() + 1 + lane*p.limbs() + limb
}
func (p permutation) out(lane, limb int) int { return p.a(keccak.Lanes+lane, limb) }
func (p permutation) prime(lane, z int) int {
	return p.out(keccak.Lanes, 0) + lane*keccak.LaneBits + z
}
func (p permutation) c(x, z int) int      { return p.prime(keccak.Lanes+x, z) }
func (p permutation) cPrime(x, z int) int { return p.c(sheets+x, z) }
func (p permutation) iota(i int) int      { return p.cPrime(sheets, 0) + i }
func (p permutation) columns() int        { return p.iota(len(iotaBits)) }

// sheets is the number of columns of lanes.
const sheets = 5

// iotaBits are the positions at which round constants have ones.
var iotaBits = [...]int{0, 1, 3, 7, 15, 31, 63}

// table returns the table of permutations.
func (p permutation) table() *air.Table {
	return &air.Table{Name: "permutations", Columns: p.columns(), State: p.state}
}

func (p permutation) state(b *air.Builder) {
	here := b.Here
	// Rounds follow each other, permutations are counted.
	for r := range keccak.Rounds {
		begin := here(p.step(r))
		if r == 0 {
			begin = begin.Plus(-1)
		}
		b.Zero(air.First, fmt.Sprintf("begins with round 0: step %d", r), begin)
		b.Zero(air.Transition, fmt.Sprintf("round after %d", r), b.Next(p.step((r+1)%keccak.Rounds)).Sub(here(p.step(r))))
	}
	ends := here(p.step(keccak.Rounds - 1))
	b.Zero(air.First, "number begins", here(p.number()))
	b.Zero(air.Transition, "number", b.Next(p.number()).Sub(here(p.number())).Sub(ends))

	bit := func(name string, column int) air.Expr {
		e := here(column)
		b.Zero(air.Everywhere, name, e.Bool())
		return e
	}
	var c, cPrime, flip [sheets][keccak.LaneBits]air.Expr
	for x := range sheets {
		for z := range keccak.LaneBits {
			c[x][z] = bit(fmt.Sprintf("C[%d,%d] is a bit", x, z), p.c(x, z))
			cPrime[x][z] = here(p.cPrime(x, z))
			flip[x][z] = c[x][z].Xor(cPrime[x][z])
		}
	}
	var prime [keccak.Lanes][keccak.LaneBits]air.Expr
	for lane := range prime {
		for z := range prime[lane] {
			prime[lane][z] = bit(fmt.Sprintf("A'[%d,%d] is a bit", lane, z), p.prime(lane, z))
		}
	}
	for x := range sheets {
		for z := range keccak.LaneBits {
			// C ⊕ C' is C[x-1,z] ⊕ C[x+1,z-1].
			left, right := c[(x+4)%sheets][z], c[(x+1)%sheets][(z+keccak.LaneBits-1)%keccak.LaneBits]
			b.Zero(air.Everywhere, fmt.Sprintf("θ[%d,%d]", x, z), flip[x][z].Sub(left.Xor(right)))
			sum := air.Expr{}.Sub(cPrime[x][z])
			for y := range sheets {
				sum = sum.Add(prime[x+sheets*y][z])
			}
			b.Zero(air.Everywhere, fmt.Sprintf("parity[%d,%d]", x, z), sum.Mul(sum.Plus(-2)).Mul(sum.Plus(-4)))
		}
	}
	for lane := range keccak.Lanes {
		for limb := range p.limbs() {
			var before []air.Expr
			for i := range p.limbBits {
				z := limb*p.limbBits + i
				before = append(before, prime[lane][z].Xor(flip[lane%sheets][z]))
			}
			b.Zero(air.Everywhere, fmt.Sprintf("A[%d] limb %d", lane, limb), here(p.a(lane, limb)).Sub(air.Pack(before)))
		}
	}
	// ρ and π: B[y, 2x+3y] = A'[x,y] rotated.
	var moved [keccak.Lanes][keccak.LaneBits]air.Expr
	for lane, offset := range keccak.Rotations() {
		x, y := lane%sheets, lane/sheets
		for z := range keccak.LaneBits {
			moved[y+sheets*((2*x+3*y)%sheets)][(z+offset)%keccak.LaneBits] = prime[lane][z]
		}
	}
	constants := keccak.RoundConstants()
	for lane := range keccak.Lanes {
		x, y := lane%sheets, lane/sheets
		var after [keccak.LaneBits]air.Expr
		for z := range after {
			not := air.Constant(1).Sub(moved[(x+1)%sheets+sheets*y][z])
			after[z] = moved[lane][z].Xor(not.Mul(moved[(x+2)%sheets+sheets*y][z]))
		}
		if lane == 0 {
			for i, z := range iotaBits {
				chi := here(p.iota(i))
				b.Zero(air.Everywhere, fmt.Sprintf("χ[0,%d]", z), chi.Sub(after[z]))
				var constant air.Expr // the round constant's bit
				for r, rc := range constants {
					if rc>>z&1 == 1 {
						constant = constant.Add(here(p.step(r)))
					}
				}
				after[z] = chi.Xor(constant)
			}
		}
		for limb := range p.limbs() {
			out := here(p.out(lane, limb))
			b.Zero(air.Everywhere, fmt.Sprintf("state after the round, lane %d limb %d", lane, limb),
				out.Sub(air.Pack(after[limb*p.limbBits:(limb+1)*p.limbBits])))
			b.Zero(air.Transition, fmt.Sprintf("next round, lane %d limb %d", lane, limb),
				b.Next(p.a(lane, limb)).Sub(out).Mul(air.Constant(1).Sub(ends)))
		}
	}
	in, out := []air.Expr{here(p.number())}, []air.Expr{here(p.number())}
	for lane := range keccak.Lanes {
		for limb := range p.limbs() {
			in = append(in, here(p.a(lane, limb)))
			out = append(out, here(p.out(lane, limb)))
		}
	}
	b.Answer(busIn, here(p.times()).Mul(here(p.step(0))), in...)
	b.Answer(busOut, here(p.times()).Mul(ends), out...)
}

// leastRows is the minimum height of both tables. The lower a table is, the more the proved rate exceeds the
// code's.
const leastRows = 64

// rows returns the number of rows of the given permutations.
func (permutation) rows(permutations int) int { return permutations * keccak.Rounds }

// trace returns a trace with the permutations of the states. Permutations of zeros follow, which answer
// nothing.
func (p permutation) trace(height int, states []States) stark.Trace {
	return stark.Trace{Rows: height, Fill: func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		if columns := stark.Columns[uint32](cells); columns != nil {
			return fillPermutations(ctx, ex, p, columns, states)
		}
		return fillPermutations(ctx, ex, p, stark.Columns[uint64](cells), states)
	}}
}

// block is the number of rows that are made at a time, equal to the number of bits in a word.
const block = 64

// round holds what a row contains of a round.
type round struct {
	a, prime, out [keccak.Lanes]uint64
	c, cPrime     [sheets]uint64
	chi           uint64 // of lane 0, before ι
}

// newRound computes one round of a state.
func newRound(a *[keccak.Lanes]uint64, constant uint64, rotations *[keccak.Lanes]int) (r round) {
	r.a = *a
	for lane, v := range a {
		r.c[lane%sheets] ^= v
	}
	var moved [keccak.Lanes]uint64
	for lane, v := range a {
		x, y := lane%sheets, lane/sheets
		v ^= r.c[(x+4)%sheets] ^ bits.RotateLeft64(r.c[(x+1)%sheets], 1)
		r.prime[lane] = v
		r.cPrime[x] ^= v
		moved[y+sheets*((2*x+3*y)%sheets)] = bits.RotateLeft64(v, rotations[lane])
	}
	for lane := range moved {
		x, y := lane%sheets, lane/sheets
		r.out[lane] = moved[lane] ^ moved[(x+2)%sheets+sheets*y]&^moved[(x+1)%sheets+sheets*y]
	}
	r.chi = r.out[0]
	r.out[0] ^= constant
	return r
}

func fillPermutations[W stark.Cell](ctx context.Context, ex executor.Executor, p permutation, columns [][]W, states []States) error {
	rows := len(columns[0])
	constants, rotations := keccak.RoundConstants(), keccak.Rotations()
	var cells [256][8]W // the bits of each byte
	for b := range cells {
		for i := range cells[b] {
			cells[b][i] = W(b >> i & 1)
		}
	}
	limbs, mask := p.limbs(), uint64(1)<<p.limbBits-1
	// Blocks of rows begin within permutations, so a task takes both whole permutations and whole blocks:
	// three blocks, or eight permutations.
	const together = 3 * block
	memory := sync.Pool{New: func() any { return new([together]round) }}
	return ex.Do(ctx, (rows+together-1)/together, func(_ context.Context, task int) error {
		rounds := memory.Get().(*[together]round)
		defer memory.Put(rounds)
		first := task * together
		count := min(together, rows-first)
		for i := range count {
			row := first + i
			r := row % keccak.Rounds
			var a [keccak.Lanes]uint64
			if n := row / keccak.Rounds; r > 0 {
				a = rounds[i-1].out
			} else if n < len(states) {
				a = states[n].In
			}
			rounds[i] = newRound(&a, constants[r], &rotations)
			columns[p.step(r)][row] = 1
			columns[p.number()][row] = W(row / keccak.Rounds)
			if row/keccak.Rounds < len(states) {
				columns[p.times()][row] = 1
			}
		}
		for lane := range keccak.Lanes {
			for limb := range limbs {
				shift := limb * p.limbBits
				a, out := columns[p.a(lane, limb)][first:], columns[p.out(lane, limb)][first:]
				for i := range count {
					a[i] = W(rounds[i].a[lane] >> shift & mask)
					out[i] = W(rounds[i].out[lane] >> shift & mask)
				}
			}
		}
		for from := 0; from < count; from += block {
			part := rounds[from:min(from+block, count)]
			lay := func(column int, lane func(r *round) uint64) {
				var words [block]uint64
				for i := range part {
					words[i] = lane(&part[i])
				}
				transpose(&words)
				for z, w := range words {
					dst := columns[column+z][first+from:][:len(part)]
					for ; len(dst) >= 8; dst = dst[8:] {
						copy(dst[:8], cells[byte(w)][:])
						w >>= 8
					}
					copy(dst, cells[byte(w)][:])
				}
			}
			for l := range keccak.Lanes {
				lay(p.prime(l, 0), func(r *round) uint64 { return r.prime[l] })
			}
			for x := range sheets {
				lay(p.c(x, 0), func(r *round) uint64 { return r.c[x] })
				lay(p.cPrime(x, 0), func(r *round) uint64 { return r.cPrime[x] })
			}
			for i, z := range iotaBits {
				dst := columns[p.iota(i)][first+from:]
				for j := range part {
					dst[j] = W(part[j].chi >> z & 1)
				}
			}
		}
		return nil
	})
}

// transpose exchanges bit j of word i with bit i of word j, by halves of halves (H. Warren, Hacker's Delight,
// section 7-3).
func transpose(words *[block]uint64) {
	mask := uint64(1)<<32 - 1
	for width := 32; width > 0; width /= 2 {
		for i := 0; i < block; i = (i + width + 1) &^ width {
			t := (words[i]>>width ^ words[i+width]) & mask
			words[i] ^= t << width
			words[i+width] ^= t
		}
		mask ^= mask << (width / 2)
	}
}
