package plonkish

import (
	"errors"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// TestKeysAreRead: a key that was written and read verifies as it did, and has one encoding.
func TestKeysAreRead(t *testing.T) {
	for _, s := range statements(t) {
		t.Run(s.name, func(t *testing.T) {
			in := s.Verifying().Bytes()
			k := must.Get(ReadVerifyingKey(*s.arith, in))(t)
			golden.Equal(t, "encoding", in, k.Bytes())
			golden.Equal(t, "said to be insecure", true, k.Insecure())
			if err := agree(t, k, s.proof, s.public, bound); err != nil {
				t.Error(err)
			}
			// Each byte changed is refused, or the key is another one.
			for i := 0; i < len(in); i += testsize.Pick(11, 1, 1) {
				bad := slices.Clone(in)
				bad[i] ^= 1
				k, err := ReadVerifyingKey(*s.arith, bad)
				var decode *zkbench.DecodeError
				if err == nil {
					err = k.VerifyInsecure(s.proof, s.public, bound)
				}
				if !errors.As(err, &decode) && !errors.Is(err, zkbench.ErrProof) {
					t.Errorf("byte %d changed: %v", i, err)
				}
			}
		})
	}
}

func TestReadVerifyingKeyRefuses(t *testing.T) {
	s := statements(t)[0]
	in := s.Verifying().Bytes()
	g2 := len(in) - 32*len(s.fixed) - 2*64
	for _, test := range []struct {
		path   string
		offset int
		change func(in []byte) []byte
	}{
		{"version", 0, func(in []byte) []byte { in[0]++; return in }},
		{"arithmetization", 1, func(in []byte) []byte { in[1]++; return in }},
		{"size", 33, func(in []byte) []byte { in[33] = 29; return in }},
		{"size", 33, func(in []byte) []byte { in[33] = 2; return in }},
		{"random rows", 34, func(in []byte) []byte { in[34] = 0; return in }},
		{"public values", 35, func(in []byte) []byte { in[35] = 13; return in }},
		{"width of tables", 39, func(in []byte) []byte { in[39] = 5; return in }},
		{"flag", 40, func(in []byte) []byte { in[40] = 2; return in }},
		{"generator", g2 - 32, func(in []byte) []byte { in[g2-32] ^= 0x80; return in }},
		{"generator", g2, func(in []byte) []byte { return identity(in, g2-32, g2) }},
		{"g2[0]", g2 + 64, func(in []byte) []byte { return identity(in, g2, g2+64) }},
		{"g2[1]", g2 + 128, func(in []byte) []byte { return identity(in, g2+64, g2+128) }},
		{"g2[0]", g2, func(in []byte) []byte { in[g2+63] ^= 1; return in }},
		{"g2[1]", g2 + 64, func(in []byte) []byte { in[g2+64] = 0; return in }},
		{"fixed[1]", g2 + 160, func(in []byte) []byte { in[g2+160] |= 0xc0; in[g2+161] = 0xff; return in }},
		{"fixed[0]", g2 + 128, func(in []byte) []byte { return in[:g2+140] }},
		{"end", len(in), func(in []byte) []byte { return append(in, 0) }},
	} {
		var e *zkbench.DecodeError
		if _, err := ReadVerifyingKey(Plonk(), test.change(slices.Clone(in))); !errors.As(err, &e) || e.Path != test.path || e.Offset != test.offset {
			t.Errorf("%v; want %s at %d", err, test.path, test.offset)
		}
	}
	must.FailGet(ReadVerifyingKey(TurboPlonk(), in))(t, zkbench.ErrMalformed, "of another arithmetization")
	must.FailGet(ReadVerifyingKey(Arithmetization{}, in))(t, zkbench.ErrParams, "of no arithmetization")
}

// identity has the compressed identity from lo to hi.
func identity(in []byte, lo, hi int) []byte {
	clear(in[lo:hi])
	in[lo] = 0x40
	return in
}

// FuzzReadVerifyingKey: no bytes make it panic, or have a key of another encoding.
func FuzzReadVerifyingKey(f *testing.F) {
	ariths := []Arithmetization{Plonk(), bitwise(3), unusual()}
	for i, s := range statements(f) {
		f.Add(uint8(i), s.Verifying().Bytes())
	}
	f.Fuzz(func(t *testing.T, i uint8, in []byte) {
		k, err := ReadVerifyingKey(ariths[int(i)%len(ariths)], in)
		var decode *zkbench.DecodeError
		switch {
		case err == nil && !slices.Equal(k.Bytes(), in):
			t.Fatal("another encoding of the same key")
		case err != nil && !errors.As(err, &decode):
			t.Fatal(err)
		}
	})
}
