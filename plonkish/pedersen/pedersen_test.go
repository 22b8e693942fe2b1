package pedersen

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/srs"
)

// edges are elements at the edges of what digits and canonicity tell apart, for a low half of so
// many bits.
func edges(low uint) []fr.Element {
	r := fr.Modulus()
	high := new(big.Int).Lsh(new(big.Int).Rsh(r, low), low)
	var all []fr.Element
	for _, v := range []*big.Int{big.NewInt(0), high, new(big.Int).Sub(r, big.NewInt(1)), new(big.Int).Lsh(big.NewInt(1), low)} {
		for d := int64(-1); d <= 1; d++ {
			var e fr.Element
			all = append(all, *e.SetBigInt(new(big.Int).Add(v, big.NewInt(d))))
		}
	}
	return all
}

// TestWindow: hashes are those of hash/pedersen, and of so many rows.
func TestWindow(t *testing.T) {
	for width, want := range map[int]int{2: 280, 4: 154, 7: 100, 8: 90, 9: 84, 13: 66} {
		used, _ := WindowRows(width, 3)
		golden.Equal(t, fmt.Sprintf("rows by windows of %d bits", width), 3*want, used)
		if width > testsize.Pick(7, 9, 13) {
			continue
		}
		b := plonkish.NewBuilder(plonkish.UltraPlonk())
		h := must.Get(NewWindow(b, width))(t)
		all := edges(uint(h.split * h.width))
		for i := range all {
			x, y := all[i], all[(i*5+1)%len(all)]
			before := b.Rows()
			got := h.Hash(b.Var(x), b.Var(y))
			if rows := b.Rows() - before; rows != want {
				t.Errorf("windows of %d bits: %d rows, want %d", width, rows, want)
			}
			if b.Value(got) != pedersen.Hash(&x, &y) {
				t.Errorf("windows of %d bits: hash of %s and %s", width, &x, &y)
			}
		}
		c := must.Get(b.Build())(t)
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, width := range []int{-1, 0, 1, 17} {
		must.FailGet(NewWindow(plonkish.NewBuilder(plonkish.UltraPlonk()), width))(t, zkbench.ErrParams, "windows of %d bits", width)
	}
}

// TestBestWidth: circuits have as many rows as are told, and the best width is that of the smallest;
// so many hashes go into 2^14 rows, and so many into 2^16.
func TestBestWidth(t *testing.T) {
	for hashes, want := range map[int]int{1: 4, 32: 6, 128: 7, 512: 10, 8192: 14} {
		golden.Equal(t, fmt.Sprintf("width for %d hashes", hashes), want, BestWidth(hashes))
	}
	build := func(width, hashes int) (used, tables, size int) {
		b := plonkish.NewBuilder(plonkish.UltraPlonk())
		h := must.Get(NewWindow(b, width))(t)
		v := b.Var(fr.One())
		for range hashes {
			v = h.Hash(v, v)
		}
		b.Equal(v, b.Public(b.Value(v)))
		used, tables = b.Rows(), b.TableRows()
		return used, tables, must.Get(b.Build())(t).Size()
	}
	const hashes = 20
	_, _, least := build(BestWidth(hashes), hashes)
	for width := MinWidth; width <= testsize.Pick(7, 10, 12); width++ {
		used, tables := WindowRows(width, hashes)
		rows, built, size := build(width, hashes)
		golden.Equal(t, fmt.Sprintf("windows of %d bits: rows", width), used+3, rows)
		golden.Equal(t, fmt.Sprintf("windows of %d bits: rows of tables", width), tables, built)
		if fits := max(used+4, tables) + plonkish.BlindedRows; size < fits || size/2 >= fits {
			t.Errorf("windows of %d bits: size %d for %d rows, %d of tables", width, size, used, tables)
		}
		if size < least || size == least && width > BestWidth(hashes) {
			t.Errorf("windows of %d bits: size %d, those of %d bits %d", width, size, BestWidth(hashes), least)
		}
	}
}

// TestLadder: hashes are those of hash/pedersen, and of so many rows.
func TestLadder(t *testing.T) {
	b := plonkish.NewBuilder(plonkish.TurboPlonk())
	h := NewLadder(b)
	all := edges(lowBits)
	for i := range all {
		x, y := all[i], all[(i*5+1)%len(all)]
		before := b.Rows()
		got := h.Hash(b.Var(x), b.Var(y))
		golden.Equal(t, "rows of a hash", LadderRows, b.Rows()-before)
		if b.Value(got) != pedersen.Hash(&x, &y) {
			t.Errorf("hash of %s and %s", &x, &y)
		}
	}
	if err := must.Get(b.Build())(t).Check(); err != nil {
		t.Error(err)
	}
}

// TestPlain: hashes are those of hash/pedersen, and of so many rows.
func TestPlain(t *testing.T) {
	b := plonkish.NewBuilder(plonkish.Plonk())
	h := NewPlain(b)
	all := edges(lowBits)
	for i := range all[:testsize.Pick(2, len(all), len(all))] {
		x, y := all[i], all[(i*5+1)%len(all)]
		before := b.Rows()
		got := h.Hash(b.Var(x), b.Var(y))
		golden.Equal(t, "rows of a hash", PlainRows, b.Rows()-before)
		if b.Value(got) != pedersen.Hash(&x, &y) {
			t.Errorf("hash of %s and %s", &x, &y)
		}
	}
	if err := must.Get(b.Build())(t).Check(); err != nil {
		t.Error(err)
	}
}

// TestNotCanonical: the digits of an element's other integer, itself and the order, are refused.
func TestNotCanonical(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), pedersen.ScalarBits)
	type hasher interface {
		hash(inputs [pedersen.Inputs]input) plonkish.Var
	}
	window := func(width int) func(b *plonkish.Builder) hasher {
		return func(b *plonkish.Builder) hasher { return must.Get(NewWindow(b, width))(t) }
	}
	for _, s := range []struct {
		name  string
		arith plonkish.Arithmetization
		low   uint
		begin func(b *plonkish.Builder) hasher
		term  string
	}{
		{"windows of 4", plonkish.UltraPlonk(), 128, window(4), "limbs"},
		{"windows of 7", plonkish.UltraPlonk(), 126, window(7), "limbs"},
		{"ladder", plonkish.TurboPlonk(), lowBits, func(b *plonkish.Builder) hasher { return NewLadder(b) }, "b"},
		{"plain", plonkish.Plonk(), lowBits, func(b *plonkish.Builder) hasher { return NewPlain(b) }, "sum"},
	} {
		for i, e := range edges(s.low) {
			for which := range pedersen.Inputs {
				b := plonkish.NewBuilder(s.arith)
				h := s.begin(b)
				values := []plonkish.Var{b.Var(element(5)), b.Var(element(7))}
				values[which] = b.Var(e)
				in := inputs(b, values[0], values[1])
				honest := h.hash(in)
				if in[which].integer.Add(in[which].integer, fr.Modulus()).Cmp(limit) >= 0 {
					continue
				}
				forged := h.hash(in)
				if b.Value(honest) == b.Value(forged) {
					t.Fatal("both integers have one hash")
				}
				var unsatisfied *plonkish.UnsatisfiedError
				if err := must.Get(b.Build())(t).Check(); !errors.As(err, &unsatisfied) || unsatisfied.Term != s.term {
					t.Errorf("%s, edge %d, input %d: %v", s.name, i, which, err)
				}
			}
		}
	}
}

// TestNothingIsLoose: inputs decide all cells of a hash to first order; digits are discrete. Of all
// cells that are not the hash only the sum's y is read once: every other one is tied to what it is
// for.
func TestNothingIsLoose(t *testing.T) {
	type hasher interface {
		Hash(x, y plonkish.Var) plonkish.Var
	}
	for name, test := range map[string]struct {
		arith plonkish.Arithmetization
		begin func(b *plonkish.Builder) hasher
	}{
		"plonk": {plonkish.Plonk(), func(b *plonkish.Builder) hasher { return NewPlain(b) }},
		"turbo": {plonkish.TurboPlonk(), func(b *plonkish.Builder) hasher { return NewLadder(b) }},
		"ultra": {plonkish.UltraPlonk(), func(b *plonkish.Builder) hasher { return must.Get(NewWindow(b, 6))(t) }},
	} {
		b := plonkish.NewBuilder(test.arith)
		h := test.begin(b)
		x, y := b.Var(element(-3)), b.Var(element(12345))
		hash := h.Hash(x, y)
		c := must.Get(b.Build())(t)
		if loose := must.Get(c.Loose(x, y))(t); len(loose) > 0 {
			t.Errorf("%s: %v", name, loose)
		}
		if once := must.Get(c.ReadOnce(x, y, hash))(t); len(once) != 1 {
			t.Errorf("%s: read once: %v", name, once)
		}
		must.FailGet(func() (*plonkish.Circuit, error) {
			b := plonkish.NewBuilder(test.arith)
			test.begin(b).Hash(0, b.Var(element(1)))
			return b.Build()
		}())(t, zkbench.ErrParams, "value 0")
	}
}

// chain is a circuit of n hashes, each of the one before and a value of its own.
func chain(t testing.TB, arith plonkish.Arithmetization, width, n int) *plonkish.Circuit {
	b := plonkish.NewBuilder(arith)
	var h interface {
		Hash(x, y plonkish.Var) plonkish.Var
	}
	if width == 0 {
		h = NewLadder(b)
	} else {
		h = must.Get(NewWindow(b, width))(t)
	}
	v := b.Var(element(1))
	for i := range n {
		other := element(int64(i))
		v = h.Hash(v, b.Var(*other.Inverse(ptr(element(int64(i + 3))))))
	}
	b.Equal(v, b.Public(b.Value(v)))
	return must.Get(b.Build())(t)
}

func ptr(e fr.Element) *fr.Element { return &e }

func TestProve(t *testing.T) {
	for _, c := range []*plonkish.Circuit{chain(t, plonkish.UltraPlonk(), 4, 3), chain(t, plonkish.TurboPlonk(), 0, 3)} {
		s := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 1))(t)
		k := must.Get(plonkish.Setup(t.Context(), executor.Serial(), c, s))(t)
		proof := must.Get(k.Prove(t.Context(), executor.Serial(), c, plonkish.Options{}))(t)
		if err := k.VerifyInsecure(proof, c.Public(), nil); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkMemory is of the greatest anonymous memory of the process while it proves, by rows of a
// circuit that fills its size; keys and reference string are in files.
func BenchmarkMemory(b *testing.B) {
	for name, arith := range map[string]plonkish.Arithmetization{"system=turbo": plonkish.TurboPlonk(), "system=ultra": plonkish.UltraPlonk()} {
		b.Run(name, func(b *testing.B) {
			hashes, width := 880, 0
			if name == "system=ultra" {
				hashes, width = 3500, 12
			}
			c := chain(b, arith, width, hashes)
			dir := b.TempDir()
			s := must.Get(srs.Cache{Dir: dir}.Insecure(b.Context(), executor.Pool(), c.Size(), 1))(b)
			must.Do(b, must.Get(plonkish.Cache{Dir: dir}.Setup(b.Context(), executor.Pool(), c, s))(b).Close())
			must.Do(b, s.Close())
			s = must.Get(srs.Cache{Dir: dir}.Insecure(b.Context(), executor.Pool(), c.Size(), 1))(b)
			k := must.Get(plonkish.Cache{Dir: dir}.Setup(b.Context(), executor.Pool(), c, s))(b)
			debug.FreeOSMemory()
			before, done, greatest := anonymous(b), make(chan bool), make(chan int)
			go func() {
				most := 0
				for {
					select {
					case <-done:
						greatest <- most
						return
					case <-time.After(time.Millisecond):
						most = max(most, anonymous(b))
					}
				}
			}()
			for b.Loop() {
				must.Get(k.Prove(b.Context(), executor.Serial(), c, plonkish.Options{}))(b)
			}
			close(done)
			b.ReportMetric(float64(<-greatest)/float64(c.Size()), "B/row")
			b.ReportMetric(float64(before)/float64(c.Size()), "B-before/row")
			b.ReportMetric(float64(k.FileLen())/float64(c.Size()), "B-of-key-file/row")
			b.ReportMetric(float64(s.Bytes())/float64(c.Size()), "B-of-string/row")
			must.Do(b, errors.Join(k.Close(), s.Close()))
		})
	}
}

// anonymous is the process' memory that no file has, in bytes.
func anonymous(b *testing.B) int {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		b.Skip("this system does not tell: ", err)
	}
	defer f.Close()
	var status [1 << 12]byte // no garbage, which would be measured
	n := must.Get(f.Read(status[:]))(b)
	_, rest, _ := bytes.Cut(status[:n], []byte("RssAnon:"))
	number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	return must.Get(strconv.Atoi(string(number)))(b) << 10
}

// BenchmarkProve is of chains of 128 hashes.
func BenchmarkProve(b *testing.B) {
	for _, form := range []struct {
		name  string
		arith plonkish.Arithmetization
		width int
	}{{"system=turbo", plonkish.TurboPlonk(), 0}, {"system=ultra", plonkish.UltraPlonk(), 7}} {
		b.Run(form.name, func(b *testing.B) {
			c := chain(b, form.arith, form.width, 128)
			s := must.Get(srs.Insecure(b.Context(), executor.Serial(), c.Size(), 1))(b)
			k := must.Get(plonkish.Setup(b.Context(), executor.Serial(), c, s))(b)
			b.ReportAllocs()
			for b.Loop() {
				must.Get(k.Prove(b.Context(), executor.Serial(), c, plonkish.Options{}))(b)
			}
			b.ReportMetric(float64(c.Size()), "rows")
			b.ReportMetric(float64(k.ProofLen()), "B/proof")
		})
	}
}
