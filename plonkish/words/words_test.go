package words

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/srs"
)

// words are Gates or Tables.
type words interface {
	Range(v plonkish.Var)
	And(x, y plonkish.Var) plonkish.Var
	Xor(x, y plonkish.Var) plonkish.Var
	rows(o *operation, x, y, z word)
}

// form is a way to have words.
type form struct {
	name  string
	arith plonkish.Arithmetization
	begin func(b *plonkish.Builder, bits int) (words, error)
	rows  map[int][2]int // by bits: of a range, of an operation
}

var forms = []form{
	{
		"gates", plonkish.TurboPlonk(), func(b *plonkish.Builder, bits int) (words, error) { return NewGates(b, bits) },
		map[int][2]int{2: {2, 2}, 8: {2, 5}, 32: {5, 17}, 64: {9, 33}, 252: {33, 127}},
	},
	{
		"tables of 2^4", plonkish.UltraPlonk(), func(b *plonkish.Builder, bits int) (words, error) { return NewTables(b, bits, 4) },
		map[int][2]int{1: {1, 1}, 3: {1, 2}, 32: {8, 16}, 64: {16, 32}, 251: {63, 126}},
	},
	{
		"tables of 2^11", plonkish.UltraPlonk(), func(b *plonkish.Builder, bits int) (words, error) { return NewTables(b, bits, 11) },
		map[int][2]int{1: {1, 1}, 11: {1, 3}, 32: {3, 7}, 64: {6, 13}, 252: {23, 51}},
	},
}

// number is a random one of so many bits, or less.
func number(r *rand.Rand, bits int) (e fr.Element) {
	z := new(big.Int)
	for range bits {
		z.Lsh(z, 1).Or(z, big.NewInt(r.Int64N(2)))
	}
	return *e.SetBigInt(z)
}

// TestWords: results are those of integers, in so many rows, and the circuit holds.
func TestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range forms {
		for bits, rows := range f.rows {
			b := plonkish.NewBuilder(f.arith)
			w := must.Get(f.begin(b, bits))(t)
			x, y := number(r, bits), number(r, bits)
			vx, vy := b.Var(x), b.Var(y)
			begun := b.Rows()
			w.Range(vx)
			golden.Equal(t, fmt.Sprintf("%s, %d bits: rows of a range", f.name, bits), rows[0], b.Rows()-begun)
			begun = b.Rows()
			results := []plonkish.Var{w.And(vx, vy), w.Xor(vx, vy)}
			golden.Equal(t, fmt.Sprintf("%s, %d bits: rows of an operation", f.name, bits), 2*rows[1], b.Rows()-begun)
			a, c := x.BigInt(new(big.Int)), y.BigInt(new(big.Int))
			for i, want := range []*big.Int{new(big.Int).And(a, c), new(big.Int).Xor(a, c)} {
				if got := b.Value(results[i]); got != *new(fr.Element).SetBigInt(want) {
					t.Errorf("%s, %d bits: result %d is %s, want %s", f.name, bits, i, got.String(), want)
				}
			}
			if err := must.Get(b.Build())(t).Check(); err != nil {
				t.Errorf("%s, %d bits: %v", f.name, bits, err)
			}
		}
	}
}

// TestOthers: what is no word is refused, as an operand too, and so is another result in any digit.
func TestOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range forms {
		for bits := range f.rows {
			refused := func(what string, rows func(b *plonkish.Builder, w words)) {
				b := plonkish.NewBuilder(f.arith)
				rows(b, must.Get(f.begin(b, bits))(t))
				var unsatisfied *plonkish.UnsatisfiedError
				if err := must.Get(b.Build())(t).Check(); !errors.As(err, &unsatisfied) || unsatisfied.Gate == plonkish.Wiring {
					t.Errorf("%s, %d bits: %s: %v", f.name, bits, what, err)
				}
			}
			var above, below fr.Element
			above.SetBigInt(new(big.Int).Lsh(big.NewInt(1), uint(bits)))
			below.SetInt64(-1)
			for what, e := range map[string]fr.Element{"above": above, "below": below} {
				refused(what, func(b *plonkish.Builder, w words) { w.Range(b.Var(e)) })
				refused(what+", first operand", func(b *plonkish.Builder, w words) { w.And(b.Var(e), b.Var(fr.One())) })
				refused(what+", second operand", func(b *plonkish.Builder, w words) { w.Xor(b.Var(fr.One()), b.Var(e)) })
			}
			for _, bit := range []int{0, bits / 2, bits - 1} {
				refused(fmt.Sprintf("bit %d flipped", bit), func(b *plonkish.Builder, w words) {
					x, y := read(b, b.Var(number(r, bits))), read(b, b.Var(number(r, bits)))
					z := xor.result(b, x, y, bits)
					z.Int.SetBit(z.Int, bit, 1-z.Bit(bit))
					var e fr.Element
					z.value = b.Var(*e.SetBigInt(z.Int))
					w.rows(xor, x, y, z)
				})
			}
		}
	}
}

// TestResultIsWired: the result that a table's digits add up to is the Var's.
func TestResultIsWired(t *testing.T) {
	for _, f := range forms {
		b := plonkish.NewBuilder(f.arith)
		w := must.Get(f.begin(b, 2))(t)
		x, y := read(b, b.Var(fr.NewElement(3))), read(b, b.Var(fr.NewElement(1)))
		z := xor.result(b, x, y, 2)
		z.value = b.Var(fr.NewElement(3))
		w.rows(xor, x, y, z)
		must.Fail(t, must.Get(b.Build())(t).Check(), zkbench.ErrWitness, "row")
	}
}

// TestNothingIsReadOnce: all cells but operands and result are tied to what they are for, and what is
// none is refused.
func TestNothingIsReadOnce(t *testing.T) {
	for _, f := range forms {
		for what, do := range map[string]func(w words, x, y plonkish.Var) plonkish.Var{
			"range": func(w words, x, _ plonkish.Var) plonkish.Var { w.Range(x); return x },
			"and":   words.And,
			"xor":   words.Xor,
		} {
			b := plonkish.NewBuilder(f.arith)
			w := must.Get(f.begin(b, 32))(t)
			x, y := b.Var(fr.NewElement(0xdead_beef)), b.Var(fr.NewElement(0x1234_5678))
			z := do(w, x, y)
			c := must.Get(b.Build())(t)
			known := []plonkish.Var{x, y, z}
			if what == "range" {
				known = []plonkish.Var{x}
			}
			if once := must.Get(c.ReadOnce(known...))(t); len(once) > 0 {
				t.Errorf("%s, %s: %v", f.name, what, once)
			}
			if loose := must.Get(c.Loose(known[:min(2, len(known))]...))(t); len(loose) > 0 {
				t.Errorf("%s, %s: %v", f.name, what, loose)
			}
			b = plonkish.NewBuilder(f.arith)
			do(must.Get(f.begin(b, 32))(t), 0, b.Var(fr.One()))
			must.FailGet(b.Build())(t, zkbench.ErrParams, "value 0")
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, bits := range []int{-2, 0, 1, 31, 254} {
		must.FailGet(NewGates(plonkish.NewBuilder(plonkish.TurboPlonk()), bits))(t, zkbench.ErrParams, "words of %d bits", bits)
	}
	for _, bits := range []int{-1, 0, 253} {
		must.FailGet(NewTables(plonkish.NewBuilder(plonkish.UltraPlonk()), bits, 8))(t, zkbench.ErrParams, "words of %d bits", bits)
	}
	for _, width := range []int{1, 21} {
		must.FailGet(NewTables(plonkish.NewBuilder(plonkish.UltraPlonk()), 32, width))(t, zkbench.ErrParams, "tables of width %d", width)
	}
}

// many are the ranges and operations of so many words of 32 bits.
func many(t testing.TB, f form, count int) *plonkish.Circuit {
	r := rand.New(rand.NewPCG(5, 6))
	b := plonkish.NewBuilder(f.arith)
	w := must.Get(f.begin(b, 32))(t)
	for range count {
		x, y := b.Var(number(r, 32)), b.Var(number(r, 32))
		w.Range(x)
		w.And(x, y)
		w.Xor(x, y)
	}
	return must.Get(b.Build())(t)
}

func setup(t testing.TB, c *plonkish.Circuit) *plonkish.ProvingKey {
	s := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 1))(t)
	return must.Get(plonkish.Setup(t.Context(), executor.Serial(), c, s))(t)
}

func TestProve(t *testing.T) {
	testsize.Full(t)
	for _, f := range forms {
		c := many(t, f, 3)
		k := setup(t, c)
		proof := must.Get(k.Prove(t.Context(), executor.Serial(), c, plonkish.Options{}))(t)
		if err := k.VerifyInsecure(proof, nil, nil); err != nil {
			t.Errorf("%s: %v", f.name, err)
		}
	}
}

// BenchmarkProve is of a range, an and and a xor of each of 1,000 words of 32 bits, by gates and by
// tables of growing width: from where a table is longer than the rows, it decides the size.
func BenchmarkProve(b *testing.B) {
	all := forms[:1]
	for width := 4; width <= 16; width += 2 {
		all = append(all, form{fmt.Sprintf("tables=2^%d", width), plonkish.UltraPlonk(), func(b *plonkish.Builder, bits int) (words, error) { return NewTables(b, bits, width) }, nil})
	}
	for _, f := range all {
		b.Run("form="+strings.ReplaceAll(f.name, " ", ""), func(b *testing.B) {
			c := many(b, f, 1000)
			k := setup(b, c)
			for b.Loop() {
				must.Get(k.Prove(b.Context(), executor.Serial(), c, plonkish.Options{}))(b)
			}
			b.ReportMetric(float64(c.Rows()), "rows")
			b.ReportMetric(float64(c.Size()), "size")
		})
	}
}
