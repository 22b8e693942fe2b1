package keccak

import (
	"errors"
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/srs"
)

func begin(t testing.TB, padding byte) (*plonkish.Builder, *Lookup) {
	b := plonkish.NewBuilder(plonkish.UltraPlonk())
	return b, must.Get(NewLookup(b, padding))(t)
}

func message(b *plonkish.Builder, n int) (bytes []byte, vars []plonkish.Var) {
	for i := range n {
		bytes = append(bytes, byte(i*i+n))
		vars = append(vars, b.Var(fr.NewElement(uint64(bytes[i]))))
	}
	return bytes, vars
}

// TestSum256: digests are those of hash/keccak, and of so many rows.
func TestSum256(t *testing.T) {
	for _, n := range testsize.Pick([]int{3}, []int{0, 1, 134, 135, 136, 271, 272}, []int{0, 1, 134, 135, 136, 271, 272, 1000}) {
		for padding, sum := range map[byte]func([]byte) [keccak.Digest]byte{keccak.Keccak256: keccak.Sum256, keccak.SHA3256: keccak.SumSHA3256} {
			if padding == keccak.SHA3256 && n > keccak.Rate {
				continue
			}
			b, h := begin(t, padding)
			bytes, vars := message(b, n)
			before := b.Rows()
			got := h.Sum256(vars)
			used, tables := LookupRows(keccak.Blocks(n))
			golden.Equal(t, "rows of tables", tables, b.TableRows())
			constants := 2
			if n%keccak.Rate == keccak.Rate-1 {
				constants = 1
			}
			golden.Equal(t, "rows", used+constants, b.Rows()-before)
			want := sum(bytes)
			for i, v := range got {
				if b.Value(v) != fr.NewElement(uint64(want[i])) {
					t.Fatalf("padding %#x, %d bytes: byte %d", padding, n, i)
				}
			}
			if err := must.Get(b.Build())(t).Check(); err != nil {
				t.Error(err)
			}
		}
	}
	for _, padding := range []byte{0, 0x80, 0xff} {
		must.FailGet(NewLookup(plonkish.NewBuilder(plonkish.UltraPlonk()), padding))(t, zkbench.ErrParams, "padding byte %#02x", padding)
	}
}

// refused checks that a circuit breaks in a lookup of that table.
func refused(t *testing.T, b *plonkish.Builder, table string) {
	t.Helper()
	var unsatisfied *plonkish.UnsatisfiedError
	if err := must.Get(b.Build())(t).Check(); !errors.As(err, &unsatisfied) || unsatisfied.Term != table {
		t.Errorf("%v, want a lookup in %q", err, table)
	}
}

// TestNoBytes: what is no byte is not hashed.
func TestNoBytes(t *testing.T) {
	for _, e := range []fr.Element{fr.NewElement(256), *new(fr.Element).SetInt64(-1)} {
		b, h := begin(t, keccak.Keccak256)
		h.Sum256([]plonkish.Var{b.Var(e)})
		refused(t, b, h.bytes.Name)
	}
}

// TestOtherDigits: an operand has no other digits: not above those of its bits, not beyond the end
// of a part, and none moved to a neighbour in another slice.
func TestOtherDigits(t *testing.T) {
	x := uint64(0x0123_4567_89ab_cdef)
	for _, r := range []int{0, 1, 28, 36, 63} {
		for i := range rotated(r) {
			b, h := begin(t, keccak.Keccak256)
			v := b.Var(h.spread(x))
			of := operand{digits: func(i int) uint64 { return x >> i & 1 }, x: v, y: h.zero.value, byX: 1, byY: 1}
			honest, _ := h.normalise(h.sum, rotated(r), of)
			if want := x<<r | x>>(64-r); honest.bits != want || b.Value(honest.value) != h.spread(want) {
				t.Fatalf("rotation by %d", r)
			}
			// The lowest digit of a part that is 1 is given to the slice below.
			slices := h.sum.slices(rotated(r), of.digits)
			moved := false
			for j := range slices {
				for k := range slices {
					if end := slices[k].at + len(slices[k].digits); !moved && slices[j].at == end && slices[j].digits[0] > 0 && (k >= i) {
						slices[j].digits[0]--
						slices[k].digits[len(slices[k].digits)-1] += h.base
						moved = true
					}
				}
			}
			if !moved {
				t.Fatal("no digit to move")
			}
			h.chain(h.sum, slices, of)
			var unsatisfied *plonkish.UnsatisfiedError
			if err := must.Get(b.Build())(t).Check(); !errors.As(err, &unsatisfied) || unsatisfied.Gate != "table" {
				t.Errorf("rotation by %d: %v", r, err)
			}
		}
	}
}

// TestNothingIsLoose: a message decides all cells of its hash to first order; digits are discrete.
func TestNothingIsLoose(t *testing.T) {
	testsize.Full(t)
	for _, n := range []int{keccak.Rate - 1, 200} { // padding of one byte, and two blocks
		b, h := begin(t, keccak.Keccak256)
		_, vars := message(b, n)
		digest := h.Sum256(vars)
		c := must.Get(b.Build())(t)
		if loose := must.Get(c.Loose(vars...))(t); len(loose) > 0 {
			t.Errorf("%d bytes: %v", n, loose)
		}
		golden.Equal(t, fmt.Sprintf("%d bytes: cells that are read once", n), unread, len(must.Get(c.ReadOnce(append(vars, digest[:]...)...))(t)))
	}
	b, h := begin(t, keccak.Keccak256)
	h.Sum256([]plonkish.Var{0})
	must.FailGet(b.Build())(t, zkbench.ErrParams, "value 0")
}

// unread are the lanes of the last state that are no part of the digest.
const unread = keccak.Lanes - keccak.Digest/8

// circuit is of one block, whose digest is public.
func circuit(t testing.TB) *plonkish.Circuit {
	b, h := begin(t, keccak.Keccak256)
	_, vars := message(b, 100)
	for _, v := range h.Sum256(vars) {
		b.Equal(v, b.Public(b.Value(v)))
	}
	return must.Get(b.Build())(t)
}

func TestProve(t *testing.T) {
	testsize.Full(t)
	c := circuit(t)
	s := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 1))(t)
	k := must.Get(plonkish.Setup(t.Context(), executor.Serial(), c, s))(t)
	proof := must.Get(k.Prove(t.Context(), executor.Serial(), c, plonkish.Options{}))(t)
	public := c.Public()
	if err := k.VerifyInsecure(proof, public, nil); err != nil {
		t.Error(err)
	}
	public[31].SetUint64(1)
	must.Fail(t, k.VerifyInsecure(proof, public, nil), zkbench.ErrProof, "another digest")
}

// BenchmarkProve is of one block.
func BenchmarkProve(b *testing.B) {
	c := circuit(b)
	s := must.Get(srs.Insecure(b.Context(), executor.Serial(), c.Size(), 1))(b)
	k := must.Get(plonkish.Setup(b.Context(), executor.Serial(), c, s))(b)
	b.ReportAllocs()
	for b.Loop() {
		must.Get(k.Prove(b.Context(), executor.Serial(), c, plonkish.Options{}))(b)
	}
	b.ReportMetric(float64(c.Rows()), "rows")
	b.ReportMetric(float64(k.ProofLen()), "B/proof")
}

// TestSlices: slices are each digit once, none of two parts, and a table has all numbers of as many
// digits as its slices, and no longer one: a digit beyond a slice would be its neighbour's.
func TestSlices(t *testing.T) {
	r := newRadix(7)
	for bits := 4; bits <= 6; bits++ {
		f := &family{radix: r, name: "test", bits: bits, results: []uint8{0, 1, 0, 1}}
		all := []parts{whole, topApart}
		for rotation := range keccak.LaneBits {
			all = append(all, rotated(rotation))
		}
		for _, p := range all {
			slices := f.slices(p, func(i int) uint64 { return uint64(i) })
			seen := make(map[uint64]bool)
			for _, part := range p {
				for at := part[0]; at < part[1]; {
					s := slices[0]
					slices = slices[1:]
					if s.at != at || len(s.digits) == 0 || len(s.digits) > bits || at+len(s.digits) > part[1] {
						t.Fatalf("%v: slice of %d digits at %d, want one at %d", p, len(s.digits), s.at, at)
					}
					for i, d := range s.digits {
						if seen[d] || d != uint64(at+i) {
							t.Fatalf("%v: digit %d at %d", p, d, at+i)
						}
						seen[d] = true
					}
					at += len(s.digits)
				}
			}
			if len(slices) > 0 || len(seen) != keccak.LaneBits {
				t.Errorf("%v: %d slices left, %d digits", p, len(slices), len(seen))
			}
		}
		for digits := 1; digits <= bits; digits++ {
			numbers := f.table(digits).Columns[0]
			seen, most := make(map[fr.Element]bool), *r.power(digits)
			for i := range numbers {
				if numbers[i].Cmp(&most) >= 0 {
					t.Errorf("a number of more than %d digits", digits)
				}
				seen[numbers[i]] = true
			}
			golden.Equal(t, fmt.Sprintf("numbers of %d digits", digits), 1<<(2*digits), len(seen))
		}
	}
}
