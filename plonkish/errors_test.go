package plonkish

import (
	"context"
	"errors"
	"io"
	"math/big"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/srs"
)

// TestBuildRefuses: what a Builder is given wrong is named when the circuit is built.
func TestBuildRefuses(t *testing.T) {
	for part, f := range map[string]func(b *Builder){
		`a gate that arithmetization "plonk" does not have`: func(b *Builder) { b.Kind(fifth) },
		"6 parameters of a row":                             func(b *Builder) { b.Kind(Arithmetic(), make([]fr.Element, 6)...) },
		"7 parameters of a row":                             func(b *Builder) { b.Kind(nil, make([]fr.Element, 7)...) },
		"has built its circuit":                             func(b *Builder) { _, _ = b.Build() },
		"row of kind 7":                                     func(b *Builder) { b.Row(7, nil) },
		"4 values":                                          func(b *Builder) { b.Row(0, make([]Var, 4)) },
		"1 free cells":                                      func(b *Builder) { b.Row(0, nil, fr.Element{}) },
		"row 0 holds value 9":                               func(b *Builder) { b.Row(0, []Var{9}) },
		"row 0 holds value 1; accepted are 0 to 0":          func(b *Builder) { b.Row(0, []Var{1}) },
		"row of kind 1 with 0 values":                       func(b *Builder) { b.Row(1, nil) },
		"values 0 and 1 to be equal":                        func(b *Builder) { b.Equal(0, b.Var(fr.Element{})) },
		"values 1 and 2 to be equal":                        func(b *Builder) { b.Equal(b.Var(fr.Element{}), 2) },
		"value 3; accepted are 1 to 0":                      func(b *Builder) { b.Value(3) },
		"value 0; accepted are 1 to 1":                      func(b *Builder) { b.Value(b.Var(fr.Element{}) - 1) },
		"0 rows of 0 late columns":                          func(b *Builder) { b.Late(0, nil) },
	} {
		b := NewBuilder(Plonk())
		f(b)
		if _, err := b.Build(); !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), part) {
			t.Errorf("%v; want %s", err, part)
		}
	}
	for part, f := range map[string]func(b *Builder){
		"lookup 1 of kind 0":          func(b *Builder) { b.LookUp(0, 1, xor4) },
		"lookup -1 of kind 0":         func(b *Builder) { b.LookUp(0, -1, xor4) },
		"lookup 2 of kind 0":          func(b *Builder) { b.LookUp(0, 0, nil, nil, xor4) },
		"lookup 0 of kind 3":          func(b *Builder) { b.LookUp(3, 0, xor4) },
		`table "none" of 0 columns`:   func(b *Builder) { b.LookUp(0, 0, &Table{Name: "none"}) },
		`table "empty" of 1 columns`:  func(b *Builder) { b.LookUp(0, 0, &Table{"empty", make([][]fr.Element, 1)}) },
		`table "wide" of 5 columns`:   func(b *Builder) { b.LookUp(0, 0, &Table{"wide", slices.Repeat([][]fr.Element{numbers(3, 1)}, 5)}) },
		`table "uneven" of 2 columns`: func(b *Builder) { b.LookUp(0, 0, &Table{"uneven", [][]fr.Element{numbers(3, 1), numbers(2, 1)}}) },
	} {
		b := NewBuilder(bitwise(1))
		f(b)
		if _, err := b.Build(); !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), part) {
			t.Errorf("%v; want %s", err, part)
		}
	}
	b := NewBuilder(shuffled())
	b.Row(0, nil)
	b.Late(2, nil)
	must.FailGet(b.Build())(t, zkbench.ErrParams, "2 rows of 2 late columns")
	for part, a := range map[string]Arithmetization{
		"1 late columns":                                    {Columns: []string{"a"}, Permuted: 1, Late: 1},
		"-1 late columns":                                   {Columns: []string{"a", "b"}, Permuted: 1, Late: -1},
		`"g" reads the challenge`:                           {Columns: []string{"a"}, Permuted: 1, Gates: []*Gate{{Name: "g", Terms: []Term{{"t", Challenge()}}}}},
		`lookup "none" has 0 parts`:                         {Columns: []string{"a"}, Permuted: 1, Lookups: []Lookup{{Name: "none"}}},
		`lookup "long" has 5 parts`:                         {Columns: []string{"a"}, Permuted: 1, Lookups: []Lookup{{"long", slices.Repeat([]Expr{Cell(0)}, 5)}}},
		`lookup "second" has 5 parts`:                       {Columns: []string{"a"}, Permuted: 1, Lookups: []Lookup{{"first", []Expr{Cell(0)}}, {"second", slices.Repeat([]Expr{Cell(0)}, 5)}}},
		`"far" reads column 1`:                              {Columns: []string{"a"}, Permuted: 1, Lookups: []Lookup{{"far", []Expr{Cell(1)}}}},
		`is called "wiring"`:                                {Columns: []string{"a"}, Permuted: 1, Gates: []*Gate{{Name: Wiring}}},
		"0 permuted of 1 columns":                           {Columns: []string{"a"}},
		"2 permuted of 1 columns":                           {Columns: []string{"a"}, Permuted: 2},
		"-1 parameters":                                     {Columns: []string{"a"}, Permuted: 1, Params: -1},
		`two gates or lookups are called "arithmetic of 3"`: {Columns: []string{"a", "b", "c"}, Permuted: 3, Params: 5, Gates: []*Gate{Arithmetic(), Arithmetic()}},
		`reads parameter 4`:                                 {Columns: []string{"a", "b", "c"}, Permuted: 3, Params: 4, Gates: []*Gate{Arithmetic()}},
		`"arithmetic of 3" reads column 2`:                  {Columns: []string{"a", "b"}, Permuted: 2, Params: 5, Gates: []*Gate{Arithmetic()}},
		`reads column -1`:                                   {Columns: []string{"a"}, Permuted: 1, Gates: []*Gate{{Name: "g", Terms: []Term{{"t", Next(-1)}}}}},
	} {
		if _, err := NewBuilder(a).Build(); !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), part) {
			t.Errorf("%v; want %s", err, part)
		}
	}
}

// TestRowsFill: rows that fill a power of two less the random rows, and one more.
func TestRowsFill(t *testing.T) {
	for rows, want := range map[int]int{0: 8, 4: 8, 5: 16, 12: 16, 13: 32} {
		b := NewBuilder(Plonk())
		for range rows {
			b.Row(0, nil)
		}
		if c := must.Get(b.Build())(t); c.Size() != want {
			t.Errorf("%d rows: size %d, want %d", rows, c.Size(), want)
		}
	}
	// Tables, one below the other, leave the random rows as well.
	for rows, want := range map[int64]int{12: 16, 13: 32} {
		b := NewBuilder(bitwise(1))
		for i := range int64(2) {
			k := b.LookUp(0, 0, &Table{"numbers", [][]fr.Element{numbers(rows/2+i*(rows%2), 1)}})
			b.Row(k, []Var{b.Var(element(2))})
		}
		if c := must.Get(b.Build())(t); c.Size() != want {
			t.Errorf("tables of %d rows: size %d, want %d", rows, c.Size(), want)
		}
	}
	// A table is there once, however many rows and kinds look it up.
	b := NewBuilder(bitwise(1))
	for range 3 {
		b.Row(b.LookUp(0, 0, below8), []Var{b.Var(element(0))})
	}
	if c := must.Get(b.Build())(t); c.Size() != 16 || tableRows(c.tables) != 8 {
		t.Errorf("size %d, tables of %d rows", c.Size(), tableRows(c.tables))
	}
	// A gate that reads the next row reads none of the random ones.
	for rows, want := range map[int]int{3: 8, 4: 16} {
		b := NewBuilder(unusual())
		for range rows {
			b.Row(b.Kind(stride), []Var{b.Var(element(0))}, element(0))
		}
		b.Row(0, []Var{b.Var(element(0))}, element(0))
		c := must.Get(b.Build())(t)
		if c.Size() != want {
			t.Errorf("%d rows that look ahead: size %d, want %d", rows, c.Size(), want)
		}
		k := setup(t, c)
		proof := must.Get(k.Prove(t.Context(), executor.Serial(), c, Options{}))(t)
		if err := k.VerifyInsecure(proof, nil, nil); err != nil {
			t.Errorf("%d rows that look ahead: %v", rows, err)
		}
	}
}

func TestSetupRefuses(t *testing.T) {
	b := NewBuilder(Plonk())
	chain(b, 20, 1)
	c := must.Get(b.Build())(t)
	var limit *zkbench.LimitError
	small := must.Get(srs.Insecure(t.Context(), executor.Serial(), 16, 1))(t)
	if _, err := Setup(t.Context(), executor.Serial(), c, small); !errors.As(err, &limit) || limit.Max != 12 || limit.Estimate != 22 {
		t.Errorf("a string of 16: %v", err)
	}
	large := must.Get(srs.Insecure(t.Context(), executor.Serial(), 64, 1))(t)
	must.FailGet(Setup(t.Context(), executor.Serial(), c, large))(t, zkbench.ErrParams, "a string of 64")

	k := setup(t, c)
	b = NewBuilder(Plonk())
	chain(b, 19, 1)
	must.FailGet(k.Prove(t.Context(), executor.Serial(), must.Get(b.Build())(t), Options{}))(t, zkbench.ErrParams, "another circuit")
	must.FailGet(k.Prove(t.Context(), executor.Serial(), c, Options{Rand: strings.NewReader("short")}))(t, io.ErrUnexpectedEOF, "no randomness")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.FailGet(k.Prove(ctx, executor.Serial(), c, Options{}))(t, context.Canceled, "cancelled")
	must.FailGet(Setup(ctx, executor.Serial(), c, k.srs))(t, context.Canceled, "cancelled")
}

// TestUnsatisfiedIsNamed: row, gate, term and columns, and none of the values.
func TestUnsatisfiedIsNamed(t *testing.T) {
	b := NewBuilder(Plonk())
	x := b.Var(fr.NewElement(123456789))
	b.Row(b.Kind(Arithmetic(), element(0), element(1)), []Var{x})
	c := must.Get(b.Build())(t)
	var e *UnsatisfiedError
	if err := c.Check(); !errors.As(err, &e) || e.Row != 0 || e.Gate != Arithmetic().Name || e.Term != "sum" || !slices.Equal(e.Cells, []string{"a", "b", "c"}) ||
		err.Error() != `unsatisfied circuit: row 0: gate "arithmetic of 3": term "sum" of ["a" "b" "c"]` {
		t.Errorf("%v", err)
	}
	if _, err := setup(t, c).Prove(t.Context(), executor.Serial(), c, Options{}); !errors.As(err, &e) {
		t.Errorf("the prover says %v", err)
	}
	b = NewBuilder(Plonk())
	one := b.Public(element(1))
	b.Row(b.Kind(Arithmetic(), element(0), element(1), element(-1)), []Var{one, b.Var(element(1))})
	b.Equal(one, b.Public(element(2)))
	c = must.Get(b.Build())(t)
	if err := c.Check(); !errors.As(err, &e) || e.Gate != Wiring || e.Row != 0 || e.Term != "row 1" {
		t.Errorf("%v", err)
	}
	b = NewBuilder(unusual())
	b.Row(0, nil)
	b.Row(b.Kind(stride), []Var{b.Var(element(1))}, element(1))
	b.Row(0, []Var{b.Var(element(0))}, element(0))
	if err := must.Get(b.Build())(t).Check(); !errors.As(err, &e) || e.Row != 1 || !slices.Equal(e.Cells, []string{"a", "f", "f'", "a'"}) {
		t.Errorf("%v", err)
	}
}

// TestPhases: each is told, in order, with the sums and transforms in it.
func TestPhases(t *testing.T) {
	b := NewBuilder(Plonk())
	chain(b, 4, 1)
	c := must.Get(b.Build())(t)
	var open, heard []string
	span := func(name string) func() {
		open = append(open, name)
		heard = append(heard, strings.Join(open, "/"))
		return func() { open = open[:len(open)-1] }
	}
	must.Get(setup(t, c).Prove(t.Context(), executor.Serial(), c, Options{Span: span}))(t)
	column := func(phase string) []string { return []string{phase + "/transform", phase + "/sum"} }
	want := slices.Concat([]string{"commit"}, column("commit"), column("commit"), column("commit"), []string{"permutation"}, column("permutation"),
		[]string{"lookup", "quotient"}, slices.Repeat([]string{"quotient/transform"}, 1+3*2+1), // the circuit's columns, three cosets and what they have, the pieces
		slices.Repeat([]string{"quotient/sum"}, 3), []string{"open", "open/transform", "open/sum", "open/sum"})
	golden.Equal(t, "spans", want, heard)
	golden.Equal(t, "spans that have not ended", 0, len(open))
}

// FuzzVerify: no bytes make a verifier panic, and what it decodes has one encoding.
func FuzzVerify(f *testing.F) {
	all := statements(f)
	for i, s := range all {
		f.Add(uint8(i), s.proof)
		f.Add(uint8(i), s.proof[:32])
	}
	f.Fuzz(func(t *testing.T, i uint8, in []byte) {
		s := &all[int(i)%len(all)]
		p, err := s.decode(in)
		if err != nil {
			var decode *zkbench.DecodeError
			if !errors.As(err, &decode) || decode.Path == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		if !slices.Equal(p.encode(), in) {
			t.Fatal("another encoding of the same proof")
		}
		if err := s.VerifyInsecure(in, s.public, bound); err == nil && !slices.Equal(in, s.proof) {
			t.Fatal("another proof is accepted")
		}
	})
}

// TestCancelled: a proof ends in any of its phases.
func TestCancelled(t *testing.T) {
	b := NewBuilder(bitwise(3))
	looks(b, 6, 5)
	c := must.Get(b.Build())(t)
	k := setup(t, c)
	for _, phase := range []string{PhaseCommit, PhasePermutation, PhaseLookup, PhaseQuotient, PhaseOpen} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := k.Prove(ctx, executor.Serial(), c, Options{Span: func(name string) func() {
			if name == phase {
				cancel()
			}
			return func() {}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled in %s: %v", phase, err)
		}
		cancel()
	}
}

// TestDecodeRefuses names what is not the one encoding of a proof's part.
func TestDecodeRefuses(t *testing.T) {
	s := statements(t)[0]
	value := s.ProofLen() - 2*bn254.SizeOfG1AffineCompressed - fr.Bytes
	plus := func(at int, modulus *big.Int) func(in []byte) {
		return func(in []byte) {
			b := in[at : at+32]
			flags := b[0] & 0xc0
			if at == value {
				flags = 0
			}
			b[0] &^= flags
			v := new(big.Int).SetBytes(b)
			v.Add(v, modulus).FillBytes(b)
			b[0] |= flags
		}
	}
	for _, test := range []struct {
		path, reason string
		offset       int
		change       func(in []byte)
	}{
		{"columns[1]", "identity", 32, func(in []byte) { clear(in[32:64]); in[32] = 0x40 }},
		{"columns[0]", "not a compressed point", 0, func(in []byte) { clear(in[:32]) }},
		{"columns[0]", "not on the curve", 0, func(in []byte) { clear(in[1:32]); in[0] = 0x80; in[31] = 4 }},
		{"columns[0]", "field modulus", 0, plus(0, fp.Modulus())},
		{"opening[1]", "field modulus", s.ProofLen() - 32, func(in []byte) { in[s.ProofLen()-32] = 0xff }},
		{"values[5]", "order", value, plus(value, fr.Modulus())},
	} {
		in := slices.Clone(s.proof)
		test.change(in)
		var e *zkbench.DecodeError
		if err := s.VerifyInsecure(in, s.public, bound); !errors.As(err, &e) || e.Path != test.path || e.Offset != test.offset || !strings.Contains(e.Reason, test.reason) {
			t.Errorf("%v; want %s at %d: %s", err, test.path, test.offset, test.reason)
		}
	}
	var e *zkbench.DecodeError
	if err := s.VerifyInsecure(s.proof[:len(s.proof)-1], s.public, bound); !errors.As(err, &e) || e.Path != "proof" || e.Offset != len(s.proof)-1 {
		t.Errorf("a byte less: %v", err)
	}
	if err := s.VerifyInsecure(append(slices.Clone(s.proof), 0), s.public, bound); !errors.As(err, &e) || e.Path != "proof" || e.Offset != len(s.proof) {
		t.Errorf("a byte more: %v", err)
	}
}

// TestMaxSize: numbers of all cells, and of a column of public values, have 32 bits.
func TestMaxSize(t *testing.T) {
	for permuted, want := range map[int]int{1: maxSize, 15: maxSize, 16: 1 << 27, 31: 1 << 27, 32: 1 << 26, 255: 1 << 24} {
		if got := (&Arithmetization{Permuted: permuted}).maxSize(); got != want {
			t.Errorf("%d columns: %d rows, want %d", permuted, got, want)
		}
	}
}

// TestOthersKeys: a key proves no circuit of which one byte of the digest differs.
func TestOthersKeys(t *testing.T) {
	s := statements(t)[0]
	for i := range s.Circuit.digest {
		c := *s.Circuit
		c.digest[i] ^= 1
		must.FailGet(s.Prove(t.Context(), executor.Serial(), &c, Options{}))(t, zkbench.ErrParams, "byte %d", i)
	}
}

// TestMemory: what memory cannot hold is refused, with the rows that it can.
func TestMemory(t *testing.T) {
	b := NewBuilder(Plonk())
	chain(b, 1<<10, 7)
	c := must.Get(b.Build())(t) // of 2^11 rows
	for have, most := range map[uint64]int64{0: -1, 204_800: -1, 204_799: 1<<10 - blinded, 102_400: 1<<10 - blinded, 102_399: 1<<9 - blinded, 1: 0} {
		err := c.checkMemory(func(int) int { return 100 }, have)
		limit, ok := errors.AsType[*zkbench.LimitError](err)
		if ok != (most >= 0) || ok && (limit.Max != most || limit.Estimate != int64(c.Rows())) {
			t.Errorf("%d bytes: %v", have, err)
		}
	}
	s := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 1))(t)
	k := must.Get(Setup(t.Context(), executor.Serial(), c, s))(t)
	cache := Cache{Dir: t.TempDir()}
	must.Get(cache.Setup(t.Context(), executor.Serial(), c, s))(t)

	// Keys of fewer rows keep columns, so that they may take as much memory as those of more rows.
	more := func(n int) int { return map[bool]int{true: 300, false: 100}[n < 1<<11] }
	for have, most := range map[uint64]int64{204_799: 1<<9 - blinded, 153_599: 1<<8 - blinded} {
		limit, ok := errors.AsType[*zkbench.LimitError](c.checkMemory(more, have))
		if !ok || limit.Max != most {
			t.Errorf("%d bytes: %v, want %d rows", have, limit, most)
		}
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1))
	must.FailGet(Setup(t.Context(), executor.Serial(), c, s))(t, zkbench.ErrLimit, "rows of a circuit in this memory")
	must.FailGet(cache.Setup(t.Context(), executor.Serial(), c, s))(t, zkbench.ErrLimit, "rows of a circuit in this memory")
	must.FailGet(k.Prove(t.Context(), executor.Serial(), c, Options{}))(t, zkbench.ErrLimit, "rows of a circuit in this memory")
}

// TestSetupEnds: a set-up whose context has ended returns no key, also if the cache has its commitments.
func TestSetupEnds(t *testing.T) {
	b := NewBuilder(bitwise(3))
	looks(b, 17, 7)
	c := must.Get(b.Build())(t)
	s := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 1))(t)
	cache := Cache{Dir: t.TempDir()}
	must.Get(cache.Setup(t.Context(), executor.Serial(), c, s))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, setUp := range map[string]func(context.Context, executor.Executor, *Circuit, *srs.SRS) (*ProvingKey, error){
		"set-up": Setup, "from the cache": cache.Setup,
	} {
		if k, err := setUp(ctx, executor.Serial(), c, s); k != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a key %v, %v", name, k != nil, err)
		}
	}
}

// TestEqual: values that are equal by way of others are one cycle.
func TestEqual(t *testing.T) {
	b := NewBuilder(Plonk())
	var v []Var
	for i := range int64(4) {
		v = append(v, b.Var(element(i)))
		b.Row(0, v[i:])
	}
	b.Equal(v[3], v[0])
	b.Equal(v[3], v[1])
	b.Equal(v[2], v[3])
	golden.Equal(t, "cells of one value", 4, len(must.Get(b.Build())(t).cycle(0, 0)))
}

// TestOthersCause: a batch whose context ends by somebody else's zkbench.ErrProof names no claim.
func TestOthersCause(t *testing.T) {
	s := statements(t)[0]
	good := Claim{s.Verifying(), s.proof, s.public, bound, true}
	for after := range 3 {
		ctx, cancel := context.WithCancelCause(t.Context())
		ex := &cancelling{Executor: executor.Serial(), after: after, cancel: func() { cancel(errOpening) }}
		err := VerifyBatch(ctx, ex, []Claim{good, good, good})
		if _, ok := errors.AsType[*ClaimError](err); ok || ctx.Err() != nil && !errors.Is(err, errOpening) {
			t.Errorf("cancelled after %d calls: %v", after, err)
		}
	}
}

// cancelling is an executor that ends its caller's context after some calls.
type cancelling struct {
	executor.Executor
	after  int
	cancel func()
}

func (c *cancelling) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	defer func() {
		if c.after--; c.after < 0 {
			c.cancel()
		}
	}()
	return c.Executor.Do(ctx, n, task)
}
