package plonkish

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/transcript"
)

// TestBlinding: random elements are 64 bytes modulo r of the stream that seed, witness and
// transcript decide, and none of two witnesses of one statement are the same.
func TestBlinding(t *testing.T) {
	product := func(x, y int64) *Circuit {
		b := NewBuilder(Plonk())
		b.Row(b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1)), []Var{b.Var(element(x)), b.Var(element(y)), b.Public(element(x * y))})
		return must.Get(b.Build())(t)
	}
	k := setup(t, product(3, 4))
	blinds := func(c *Circuit, seed string) (all []fr.Element) {
		p := must.Get(k.newProver(t.Context(), executor.Serial(), c, Options{Context: bound, Rand: strings.NewReader(seed)}))(t)
		must.Do(t, p.commit())
		for column := range 3 {
			all = append(all, rowsOf(t, p, variable{cell, column})[p.n-blinded:]...)
		}
		return all
	}
	seed := "of thirty-two bytes, and no more"
	first := blinds(product(3, 4), seed)

	h := sha256.New()
	c := product(3, 4)
	for _, column := range c.cells {
		must.Do(t, binary.Write(h, binary.LittleEndian, column))
	}
	for _, v := range c.values {
		for _, limb := range v {
			must.Do(t, binary.Write(h, binary.LittleEndian, limb))
		}
	}
	r := k.newRounds(c.Public(), bound)
	nonces := transcript.Nonces{Protocol: "plonkish", Label: "blinding", Seed: [32]byte([]byte(seed))}
	stream := nonces.Stream(h.Sum(nil), &r.Transcript)
	for i, got := range first {
		var wide [64]byte
		must.Get(io.ReadFull(stream, wide[:]))(t)
		var want fr.Element
		if want.SetBigInt(new(big.Int).SetBytes(wide[:])); got != want {
			t.Errorf("random element %d is not the stream's", i)
		}
	}
	for name, other := range map[string][]fr.Element{
		"another witness": blinds(product(2, 6), seed),
		"another seed":    blinds(product(3, 4), "of thirty-two bytes, and no less"),
	} {
		for _, e := range other {
			if slices.Contains(first, e) {
				t.Errorf("%s: a random element in common", name)
			}
		}
	}
}

// TestRandomElementsAreOfTheCells: of one seed, witnesses that differ in any cell have other random
// elements: values that change places, cells that are not wired, and late ones.
func TestRandomElementsAreOfTheCells(t *testing.T) {
	first := func(t *testing.T, k *ProvingKey, c *Circuit, phase func(p *prover) error) fr.Element {
		p := must.Get(k.newProver(t.Context(), executor.Serial(), c, Options{Rand: zeros{}}))(t)
		must.Do(t, phase(p))
		return must.Get(p.random())(t)
	}
	none := func(*prover) error { return nil }
	sum := func(swap bool) *Circuit {
		b := NewBuilder(Plonk())
		x, y := b.Var(element(3)), b.Var(element(1000))
		if swap {
			x, y = y, x
		}
		b.Row(b.Kind(Arithmetic(), element(0), element(1), element(1), element(-1)), []Var{x, y, b.Public(element(1003))})
		return must.Get(b.Build())(t)
	}
	if k := setup(t, sum(false)); first(t, k, sum(false), none) == first(t, k, sum(true), none) {
		t.Error("two values in each other's cells")
	}
	s := nextAlone()
	free := func(f, g int64) *Circuit {
		b := NewBuilder(s)
		b.Row(0, nil, element(f), element(g))
		return must.Get(b.Build())(t)
	}
	k := setup(t, free(1, 8))
	for _, other := range []*Circuit{free(2, 8), free(1, 9)} {
		if first(t, k, free(1, 8), none) == first(t, k, other, none) {
			t.Error("a cell of a free column")
		}
	}
	late := func(by int64) *Circuit {
		b := NewBuilder(shuffled())
		b.Row(0, nil)
		b.Late(1, func(challenge fr.Element, cells [][]fr.Element) {
			e := element(by)
			cells[0][0].Mul(&challenge, &e)
		})
		return must.Get(b.Build())(t)
	}
	if k := setup(t, late(1)); first(t, k, late(1), (*prover).commit) == first(t, k, late(2), (*prover).commit) {
		t.Error("a late cell")
	}
	if late(1).guess().challenge == late(1).withValues(func(c *Circuit) { c.setCell(0, 0, element(1)) }).guess().challenge {
		t.Error("Check's challenge is one that is known before the cells")
	}
}

// ends tells whether a column has a last value before the random ones.
func (v variable) ends() bool { return v == variable{product, 0} || v == variable{sum, 0} }

// TestBlindingIsEnough counts for each column what a proof shows of it: its commitment, which is
// a value at τ, and its values; so many of its rows are random at least. What all of the opening
// shows besides follows from these.
func TestBlindingIsEnough(t *testing.T) {
	for _, s := range statements(t) {
		for _, v := range s.layout.witness() {
			shown, random := 1, blinded
			if v.ends() {
				random-- // its row n - blinded is fixed
			}
			for _, o := range s.opened {
				if o.here() == v {
					shown++
				}
			}
			// The sum of all pieces at τ is what of the next row at ωτ makes it, and nothing shows: of
			// z a row more is random than is shown.
			if shown > random || v == (variable{product, 0}) && shown == random {
				t.Errorf("%s: column %v: %d values shown, %d rows random", s.name, v, shown, random)
			}
		}
		// One sum of the pieces is known, all others are blinded.
		p, err := s.newProver(t.Context(), executor.Serial(), s.Circuit, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range []func() error{p.commit, p.permutation, p.lookup, p.quotient} {
			if err := run(); err != nil {
				t.Fatal(err)
			}
		}
		var seen []fr.Element
		for i := range p.pieces[:len(p.pieces)-1] {
			if b := p.pieces[i][p.n]; b.IsUint64() || slices.Contains(seen, b) {
				t.Errorf("%s: piece %d is not blinded", s.name, i)
			}
			seen = append(seen, p.pieces[i][p.n])
		}
		for v := range p.columns {
			for i, e := range rowsOf(t, p, v)[p.n-blinded:] {
				if small := e.IsUint64(); small && (!v.ends() || i > 0) {
					t.Errorf("%s: column %v is not blinded in row %d from the end", s.name, v, blinded-i)
				}
			}
		}
	}
}

// TestProofsShareNothing: two proofs of one statement have no point and no value in common, also
// where the source of randomness repeats itself and the witness, or what it is bound to, does not.
func TestProofsShareNothing(t *testing.T) {
	for _, s := range statements(t) {
		same := func(o Options) []byte {
			o.Rand = zeros{}
			proof, err := s.Prove(t.Context(), executor.Serial(), s.Circuit, o)
			if err != nil {
				t.Fatal(err)
			}
			return proof
		}
		fresh, err := s.Prove(t.Context(), executor.Serial(), s.Circuit, Options{Context: bound})
		if err != nil {
			t.Fatal(err)
		}
		first := same(Options{Context: bound})
		if !slices.Equal(first, same(Options{Context: bound})) {
			t.Errorf("%s: two proofs of one seed, witness and context differ", s.name)
		}
		if !slices.Equal(first, same(Options{Context: bound, FullLength: true})) {
			t.Errorf("%s: a proof of commitments at full length is another", s.name)
		}
		for name, proof := range map[string][]byte{"fresh": fresh, "seed": first, "another context": same(Options{Context: []byte("x")})} {
			seen := make(map[string]string)
			for other, p := range map[string][]byte{"": s.proof, name: proof} {
				for part := range slices.Chunk(p, 32) {
					if before, ok := seen[string(part)]; ok && before != other {
						t.Errorf("%s, %s: a part in common with another proof", s.name, name)
					}
					seen[string(part)] = other
				}
			}
		}
		if slices.Equal(first[:32], same(Options{Context: []byte("x")})[:32]) {
			t.Errorf("%s: one seed blinds two contexts alike", s.name)
		}
	}
}

// zeros is a source of randomness that has none.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
