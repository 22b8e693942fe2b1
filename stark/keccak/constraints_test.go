package keccak

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/starktest"
)

// order is KoalaBear's order.
const order = 1<<31 - 1<<24 + 1

// then returns a trace that fills like t and then changes cells.
func then(t stark.Trace, change func(cells *stark.Cells)) stark.Trace {
	fill := t.Fill
	t.Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		err := fill(ctx, ex, cells)
		change(cells)
		return err
	}
	return t
}

// cell returns a cell of a trace over KoalaBear.
func cell(cells *stark.Cells, row, column int) *uint32 {
	return &stark.Columns[uint32](cells)[column][row]
}

// finish computes a round's result from the state after θ.
func (r *round) finish(constant uint64) {
	rotations := keccak.Rotations()
	var moved [keccak.Lanes]uint64
	for lane, v := range r.prime {
		x, y := lane%sheets, lane/sheets
		moved[y+sheets*((2*x+3*y)%sheets)] = bits.RotateLeft64(v, rotations[lane])
	}
	for lane := range moved {
		x, y := lane%sheets, lane/sheets
		r.out[lane] = moved[lane] ^ moved[(x+2)%sheets+sheets*y]&^moved[(x+1)%sheets+sheets*y]
	}
	r.chi = r.out[0]
	r.out[0] ^= constant
}

// rounds returns the rounds that start from a state. Each is changed before the next one continues from it.
func rounds(in [keccak.Lanes]uint64, change func(i int, r *round, constant uint64)) (all [keccak.Rounds]round) {
	rotations := keccak.Rotations()
	a := in
	for i, constant := range keccak.RoundConstants() {
		all[i] = newRound(&a, constant, &rotations)
		if change != nil {
			change(i, &all[i], constant)
		}
		a = all[i].out
	}
	return all
}

// lay sets the cells of a row to a round.
func (p permutation) lay(cells *stark.Cells, row int, r *round) {
	mask := uint64(1)<<p.limbBits - 1
	for lane := range keccak.Lanes {
		for limb := range p.limbs() {
			cells.Set(row, p.a(lane, limb), r.a[lane]>>(limb*p.limbBits)&mask)
			cells.Set(row, p.out(lane, limb), r.out[lane]>>(limb*p.limbBits)&mask)
		}
		for z := range keccak.LaneBits {
			cells.Set(row, p.prime(lane, z), r.prime[lane]>>z&1)
		}
	}
	for x := range sheets {
		for z := range keccak.LaneBits {
			cells.Set(row, p.c(x, z), r.c[x]>>z&1)
			cells.Set(row, p.cPrime(x, z), r.cPrime[x]>>z&1)
		}
	}
	for i, z := range iotaBits {
		cells.Set(row, p.iota(i), r.chi>>z&1)
	}
}

func someState(seed uint64) (s [keccak.Lanes]uint64) {
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range s {
		s[i] = random.Uint64()
	}
	return s
}

// TestConstraints: each kind of constraint of both tables is held by a witness that breaks it alone.
func TestConstraints(t *testing.T) {
	t.Parallel()
	forgeries := starktest.Forgeries{
		Planted: make(map[string]func() starktest.Planted), Each: make(map[string]func(name string) starktest.Planted),
		Many: map[string]int{
			"permutations: begins with round #: step #": keccak.Rounds,
			"permutations: round after #":               keccak.Rounds,
			"permutations: C[#,#] is a bit":             sheets * keccak.LaneBits,
			"permutations: A'[#,#] is a bit":            keccak.Lanes * keccak.LaneBits,
			"permutations: parity[#,#]":                 sheets * keccak.LaneBits,
		},
	}
	plantPermutations(t, forgeries)
	plantSponges(t, forgeries)
	s := sponge{newPermutation(stark.KoalaBear), stark.Public}
	starktest.Constraints(t, "stark/keccak", []*air.Table{s.permutation.table(), s.table()}, forgeries)
}

// plantPermutations plants traces of the table of permutations, with lists of states that are permutations
// according to them.
func plantPermutations(t *testing.T, forgeries starktest.Forgeries) {
	table := must.Get(NewPermutationTable(config(stark.KoalaBear)))(t)
	p := table.permutation
	in := someState(1)
	// plantOf is of a trace of states whose cells are changed, and of what is said of it.
	planted := func(states States, change func(cells *stark.Cells), say func(about *stark.Statement)) starktest.Planted {
		about := must.Get(table.Statement([]States{states}, nil))(t)
		say(&about)
		return starktest.Planted{System: table.System, Traces: []stark.Trace{then(p.trace(about.Forms[0][0], []States{states}), change)}, About: about}
	}
	plantOf := func(states States, kind string, change func(cells *stark.Cells), say func(about *stark.Statement)) {
		forgeries.Planted["permutations: "+kind] = func() starktest.Planted { return planted(states, change, say) }
	}
	plant := func(kind string, change func(cells *stark.Cells), say func(about *stark.Statement)) {
		plantOf(Permute(in), kind, change, say)
	}
	// after says what permutation 0 gives.
	after := func(out [keccak.Lanes]uint64) func(about *stark.Statement) {
		return func(about *stark.Statement) { about.Messages[1].Tuple = p.split([]uint64{0}, out[:]...) }
	}
	// lie is of rounds that go on from a change.
	lie := func(change func(i int, r *round, constant uint64)) starktest.Planted {
		all := rounds(in, change)
		return planted(Permute(in), func(cells *stark.Cells) {
			for i := range all {
				p.lay(cells, i, &all[i])
			}
		}, after(all[keccak.Rounds-1].out))
	}
	// each is of a change by the two numbers in a constraint's name.
	each := func(kind, format string, change func(a, b int) starktest.Planted) {
		forgeries.Each["permutations: "+kind] = func(name string) starktest.Planted {
			var a, b int
			if _, err := fmt.Sscanf(name, format, &a, &b); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return change(a, b)
		}
	}
	step := func(cells *stark.Cells, row, r int) { // that the row is of round r, or of none
		for i := range keccak.Rounds {
			cells.Set(row, p.step(i), 0)
		}
		if r >= 0 {
			cells.Set(row, p.step(r), 1)
		}
	}

	plant("begins with round #: step #", func(cells *stark.Cells) { // no row is of any round, and no permutation ends
		a, rotations := in, keccak.Rotations()
		for row := range cells.Rows() {
			step(cells, row, -1)
			r := newRound(&a, 0, &rotations)
			p.lay(cells, row, &r)
			a = r.out
			cells.Set(row, p.number(), 0)
		}
	}, func(about *stark.Statement) { about.Messages = nil })
	plant("round after #", func(cells *stark.Cells) { // the last round comes after the fifth
		constants, rotations := keccak.RoundConstants(), keccak.Rotations()
		r, a := 0, in
		number := 0
		for row := range cells.Rows() {
			if row == 5 {
				r = keccak.Rounds - 1
			}
			step(cells, row, r)
			one := newRound(&a, constants[r], &rotations)
			p.lay(cells, row, &one)
			cells.Set(row, p.number(), uint64(number))
			*cell(cells, row, p.times()) = 0
			if number == 0 {
				*cell(cells, row, p.times()) = 1
			}
			a = one.out
			if r++; r == keccak.Rounds {
				r, a = 0, [keccak.Lanes]uint64{}
				number++
			}
		}
	}, func(about *stark.Statement) {
		constants, rotations := keccak.RoundConstants(), keccak.Rotations()
		a := in
		for _, r := range []int{0, 1, 2, 3, 4, keccak.Rounds - 1} {
			one := newRound(&a, constants[r], &rotations)
			a = one.out
		}
		after(a)(about)
	})
	plant("number begins", func(cells *stark.Cells) {
		for row := range cells.Rows() {
			*cell(cells, row, p.number()) += 7
		}
	}, func(about *stark.Statement) {
		for i := range about.Messages {
			about.Messages[i].Tuple[0] = 7
		}
	})
	plant("number", func(cells *stark.Cells) { // two permutations of one number: the first's state before, the second's after
		for row := range cells.Rows() {
			*cell(cells, row, p.number()) = max(1, *cell(cells, row, p.number())) - 1
			*cell(cells, row, p.times()) = 0
		}
		*cell(cells, 0, p.times()) = 1
		*cell(cells, 2*keccak.Rounds-1, p.times()) = 1
	}, after(Permute([keccak.Lanes]uint64{}).Out))

	half := uint64((order + 1) / 2)
	limb := (order + (1<<p.limbBits - 1)) / 2           // of halves
	plant("C[#,#] is a bit", func(cells *stark.Cells) { // C ⊕ C' is a half everywhere, and so is every bit of the state before
		for i := range sheets * keccak.LaneBits {
			cells.Set(0, p.c(0, i), half)
		}
		for i := range keccak.Lanes * p.limbs() {
			cells.Set(0, p.a(0, i), uint64(limb))
		}
	}, func(about *stark.Statement) {
		for i := range about.Messages[0].Tuple[1:] {
			about.Messages[0].Tuple[1+i] = uint64(limb)
		}
	})
	digits := otherDigits(t, p)
	plantOf(digits.states, "A'[#,#] is a bit", digits.change, digits.say)
	each("θ[#,#]", "θ[%d,%d]", func(x, z int) starktest.Planted {
		return lie(func(i int, r *round, constant uint64) {
			if i == 0 { // a bit of C' is another, and so are five of A'
				r.cPrime[x] ^= 1 << z
				for y := range sheets {
					r.prime[x+sheets*y] ^= 1 << z
				}
				r.finish(constant)
			}
		})
	})
	forgeries.Planted["permutations: parity[#,#]"] = func() starktest.Planted {
		return lie(func(i int, r *round, constant uint64) {
			if i == 0 { // C is of another state
				r.c[3] ^= 1 << 17
				for x := range sheets {
					d := r.c[(x+4)%sheets] ^ bits.RotateLeft64(r.c[(x+1)%sheets], 1)
					r.cPrime[x] = r.c[x] ^ d
					for y := range sheets {
						r.prime[x+sheets*y] = r.a[x+sheets*y] ^ d
					}
				}
				r.finish(constant)
			}
		})
	}
	lowest := func(limb int) uint64 { return 1 << (limb * p.limbBits) }
	each("A[#] limb #", "A[%d] limb %d", func(lane, limb int) starktest.Planted { // the rest is of another state
		other := in
		other[lane] ^= lowest(limb)
		return planted(Permute(in), func(cells *stark.Cells) {
			cells.Set(0, p.a(lane, limb), other[lane]>>(limb*p.limbBits)&(1<<p.limbBits-1))
		}, func(about *stark.Statement) { about.Messages[0].Tuple = p.split([]uint64{0}, other[:]...) })
	})
	each("χ[#,#]", "χ[%d,%d]", func(_, z int) starktest.Planted {
		return lie(func(i int, r *round, constant uint64) {
			if i == keccak.Rounds-1 {
				r.chi ^= 1 << z
				r.out[0] ^= 1 << z
			}
		})
	})
	each("state after the round, lane # limb #", "state after the round, lane %d limb %d", func(lane, limb int) starktest.Planted {
		return lie(func(i int, r *round, _ uint64) {
			if i == keccak.Rounds-1 {
				r.out[lane] ^= lowest(limb)
			}
		})
	})
	each("next round, lane # limb #", "next round, lane %d limb %d", func(lane, limb int) starktest.Planted { // goes on from another state
		all := rounds(in, nil)
		a, rotations := all[0].out, keccak.Rotations()
		a[lane] ^= lowest(limb)
		for i := 1; i < keccak.Rounds; i++ {
			all[i] = newRound(&a, keccak.RoundConstants()[i], &rotations)
			a = all[i].out
		}
		return planted(Permute(in), func(cells *stark.Cells) {
			for i := range all {
				p.lay(cells, i, &all[i])
			}
		}, after(a))
	})
	plant(`answers "keccak-f in"`, func(*stark.Cells) {}, func(about *stark.Statement) { about.Messages = about.Messages[1:] })
	plant(`answers "keccak-f out"`, func(*stark.Cells) {}, func(about *stark.Statement) { about.Messages = about.Messages[:1] })
}

// digits is a change of the last round of a permutation.
type digits struct {
	states States
	change func(cells *stark.Cells)
	say    func(about *stark.Statement)
}

// otherDigits finds a permutation whose state before the last round has other digits than bits after θ. In
// two lanes of a sheet two bits are 0 and 1, of value 2, and become 2 and 0. Sums of columns stay what parity
// allows, but the state after the round is another.
func otherDigits(t *testing.T, p permutation) digits {
	t.Helper()
	constants := keccak.RoundConstants()
	for seed := uint64(10); seed < 1000; seed++ {
		in := someState(seed)
		all := rounds(in, nil)
		r := all[keccak.Rounds-1]
		for x := range sheets {
			flip := r.c[x] ^ r.cPrime[x]
			for z := range keccak.LaneBits - 1 {
				if z%p.limbBits == p.limbBits-1 || flip>>z&3 != 0 {
					continue
				}
				var lanes []int
				low, high := 0, 0
				for y := range sheets {
					low += int(r.prime[x+sheets*y] >> z & 1)
					high += int(r.prime[x+sheets*y] >> (z + 1) & 1)
					if r.prime[x+sheets*y]>>z&3 == 2 {
						lanes = append(lanes, x+sheets*y)
					}
				}
				if len(lanes) < 2 || low > 1 || high-int(r.cPrime[x]>>(z+1)&1) < 2 {
					continue
				}
				// The values of all bits after θ, and the state that χ makes of them.
				var prime [keccak.Lanes][keccak.LaneBits]int64
				for lane := range prime {
					for i := range prime[lane] {
						prime[lane][i] = int64(r.prime[lane] >> i & 1)
					}
				}
				for _, lane := range lanes[:2] {
					prime[lane][z], prime[lane][z+1] = 2, 0
				}
				out, chi := afterDigits(p, &prime, constants[keccak.Rounds-1])
				row := keccak.Rounds - 1
				return digits{
					Permute(in),
					func(cells *stark.Cells) {
						for lane := range prime {
							for i, v := range prime[lane] {
								cells.Set(row, p.prime(lane, i), uint64(v))
							}
						}
						for i, v := range out {
							cells.Set(row, p.out(0, i), v)
						}
						for i, v := range chi {
							cells.Set(row, p.iota(i), v)
						}
					},
					func(about *stark.Statement) { copy(about.Messages[1].Tuple[1:], out) },
				}
			}
		}
	}
	t.Fatal("no state has such digits")
	return digits{}
}

// afterDigits computes what a round makes of digits after θ: the limbs of the state, and the column of ι.
func afterDigits(p permutation, prime *[keccak.Lanes][keccak.LaneBits]int64, constant uint64) (out, chi []uint64) {
	var moved [keccak.Lanes][keccak.LaneBits]int64
	for lane, offset := range keccak.Rotations() {
		x, y := lane%sheets, lane/sheets
		for z := range keccak.LaneBits {
			moved[y+sheets*((2*x+3*y)%sheets)][(z+offset)%keccak.LaneBits] = prime[lane][z]
		}
	}
	xor := func(a, b int64) int64 { return a + b - 2*a*b }
	field := func(v int64) uint64 { return uint64((v%order + order) % order) }
	for lane := range keccak.Lanes {
		x, y := lane%sheets, lane/sheets
		for limb := range p.limbs() {
			sum := int64(0)
			for i := p.limbBits - 1; i >= 0; i-- {
				z := limb*p.limbBits + i
				after := xor(moved[lane][z], (1-moved[(x+1)%sheets+sheets*y][z])*moved[(x+2)%sheets+sheets*y][z])
				if lane == 0 {
					if slices.Contains(iotaBits[:], z) {
						chi = append(chi, field(after))
					}
					after = xor(after, int64(constant>>z&1))
				}
				sum = 2*sum + after
			}
			out = append(out, field(sum))
		}
	}
	// Bits of a limb were met from above.
	at := 0
	for limb := range p.limbs() {
		n := 0
		for _, z := range iotaBits {
			if z/p.limbBits == limb {
				n++
			}
		}
		slices.Reverse(chi[at : at+n])
		at += n
	}
	return out, chi
}
