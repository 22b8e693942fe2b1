package identity

import (
	"bytes"
	"crypto/elliptic"
	"math/big"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestRFC6979: the vectors of RFC 6979, A.2.5, for SHA-256; s of the first is
// high there, so that n - s is signed here.
func TestRFC6979(t *testing.T) {
	s := x509Signer(t)
	set := newSet(t)
	n := elliptic.P256().Params().N
	for _, v := range []struct{ message, r, s string }{
		{"sample", "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716", "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"},
		{"test", "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367", "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"},
	} {
		S := new(big.Int).SetBytes(unhex(t, v.s))
		high := S.Cmp(new(big.Int).Rsh(n, 1)) > 0
		if high != (v.message == "sample") {
			t.Fatal("the vectors should have one high and one low s")
		}
		if high {
			S.Sub(n, S)
		}
		want := slices.Concat(unhex(t, v.r), S.FillBytes(make([]byte, 32)))
		got := must.Get(s.Sign([]byte(v.message), nil))(t)
		golden.Equal(t, v.message, want, got)
		must.Do(t, agree(t, set, s.Identity(), []byte(v.message), want), v.message)
		again := must.Get(s.Sign([]byte(v.message), seeded("ignored")))(t)
		golden.Equal(t, v.message+", signed again", want, again)
	}
}

// TestECDSARange: r and s outside 1..n-1, and the high twin of a good s, which
// the curve equation accepts.
func TestECDSARange(t *testing.T) {
	signer, set := x509Signer(t), newSet(t)
	n := elliptic.P256().Params().N
	message := []byte("range")
	good := must.Get(signer.Sign(message, nil))(t)
	r, s := new(big.Int).SetBytes(good[:32]), new(big.Int).SetBytes(good[32:])
	top := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	zero := new(big.Int)
	half := new(big.Int).Rsh(n, 1)
	for name, rs := range map[string][2]*big.Int{
		"r=0":          {zero, s},
		"s=0":          {r, zero},
		"r=s=0":        {zero, zero},
		"r=n":          {n, s},
		"s=n":          {r, n},
		"r=2^256-1":    {top, s},
		"s=2^256-1":    {r, top},
		"s=n-s":        {r, new(big.Int).Sub(n, s)},
		"s=(n+1)/2":    {r, new(big.Int).Add(half, big.NewInt(1))},
		"s=(n-1)/2":    {r, half},
		"r=n-r":        {new(big.Int).Sub(n, r), s},
		"r and s swap": {s, r},
	} {
		signature := slices.Concat(rs[0].FillBytes(make([]byte, 32)), rs[1].FillBytes(make([]byte, 32)))
		must.Fail(t, agree(t, set, signer.Identity(), message, signature), zkbench.ErrSignature, "%s", name)
	}
}

// TestLowS: signatures have a low s for many messages, about half of which give
// a high one first.
func TestLowS(t *testing.T) {
	signer, set := x509Signer(t), newSet(t)
	for i := range byte(32) {
		signature := must.Get(signer.Sign([]byte{i}, nil))(t)
		if bytes.Compare(signature[32:], halfOrder[:]) > 0 {
			t.Errorf("message %d: high s", i)
		}
		must.Do(t, verifyOne(set, signer.Identity(), []byte{i}, signature), "message", i)
	}
}
