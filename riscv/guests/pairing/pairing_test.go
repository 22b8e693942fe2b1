package main

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	gnark "github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"pgregory.net/rapid"
)

// scalars are of one party each; r - 2 is the one whose last digit meets equal points.
var scalars = rapid.Custom(func(t *rapid.T) (s fr.Element) {
	if s.SetInt64(rapid.Int64Range(-3, 3).Draw(t, "small")); s.IsZero() {
		var b [48]byte
		for i := range b {
			b[i] = rapid.Byte().Draw(t, "byte")
		}
		s.SetBytes(b[:])
	}
	if s.IsZero() {
		s.SetOne()
	}
	return s
})

// TestMultiply: multiples of the generators are those of gnark-crypto.
func TestMultiply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := scalars.Draw(t, "scalar")
		n := digitsOf(&s, 2)
		var p g1
		var q g2
		p.multiply(&base1, &n)
		q.multiply(&base2, &n)
		var wantP bn254.G1Affine
		var wantQ bn254.G2Affine
		wantP.ScalarMultiplicationBase(s.BigInt(new(big.Int)))
		wantQ.ScalarMultiplicationBase(s.BigInt(new(big.Int)))
		if p != pointOf(&wantP) || q != twistPointOf(&wantQ) {
			t.Fatal("another multiple")
		}
	})
}

// TestPairing: pairings and powers of them are those of gnark-crypto.
func TestPairing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, power := scalars.Draw(t, "scalar"), scalars.Draw(t, "power")
		var p bn254.G1Affine
		var q bn254.G2Affine
		p.ScalarMultiplicationBase(s.BigInt(new(big.Int)))
		q.ScalarMultiplicationBase(power.BigInt(new(big.Int)))
		want, err := bn254.Pair([]bn254.G1Affine{p}, []bn254.G2Affine{q})
		if err != nil {
			t.Fatal(err)
		}
		ourP, ourQ := pointOf(&p), twistPointOf(&q)
		var got, gotPower e12
		got.millerLoop(&ourP, &ourQ)
		got.finalExponentiation()
		if !bytes.Equal(got.bytes(), want.Marshal()) {
			t.Fatal("another pairing")
		}
		n := digitsOf(&power, 4)
		gotPower.power(&got, &n)
		want.Exp(want, power.BigInt(new(big.Int)))
		if !bytes.Equal(gotPower.bytes(), want.Marshal()) {
			t.Fatal("another power")
		}
	})
}

func TestExchange(t *testing.T) {
	secrets := [parties][4]uint64{{1, 2, 3, 4}, {5, 6, 7, 8}, order}
	secrets[2][0] -= 2
	product := big.NewInt(1)
	for _, s := range secrets {
		product.Mul(product, integer(s))
	}
	_, _, p, q := bn254.Generators()
	want, err := bn254.Pair([]bn254.G1Affine{p}, []bn254.G2Affine{q})
	if err != nil {
		t.Fatal(err)
	}
	want.Exp(want, product.Mod(product, fr.Modulus()))
	key := exchange(&secrets)
	if !bytes.Equal(key.bytes(), want.Marshal()) {
		t.Fatal("another key")
	}
}

func TestDecode(t *testing.T) {
	r := integer(order)
	input := func(secrets ...*big.Int) (b []byte) {
		for _, s := range secrets {
			b = append(b, s.FillBytes(make([]byte, 32))...)
		}
		return b
	}
	last := new(big.Int).Sub(r, big.NewInt(1))
	for _, test := range []struct {
		name  string
		input []byte
		fine  bool
	}{
		{"fine", input(big.NewInt(1), last, new(big.Int).Lsh(big.NewInt(1), 200)), true},
		{"zero", input(big.NewInt(1), new(big.Int), last), false},
		{"order", input(big.NewInt(1), last, r), false},
		{"short", input(big.NewInt(1), last), false},
		{"long", append(input(big.NewInt(1), last, last), 0), false},
	} {
		t.Run("input="+test.name, func(t *testing.T) {
			secrets, fault := decode(test.input)
			if fine := fault == ""; fine != test.fine {
				t.Fatalf("fault %q", fault)
			}
			if test.fine && !bytes.Equal(input(integer(secrets[0]), integer(secrets[1]), integer(secrets[2])), test.input) {
				t.Fatal("other secrets")
			}
		})
	}
}

func integer(x [4]uint64) *big.Int {
	z := new(big.Int)
	for i := 3; i >= 0; i-- {
		z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(x[i]))
	}
	return z
}

func digitsOf(s *fr.Element, width uint) (n digits) {
	limbs := s.Bits()
	n.set(&limbs, width)
	return n
}

func elementOf(x *gnark.Element) fp {
	limbs := x.Bits()
	return constant(limbs[:]...)
}

func pointOf(p *bn254.G1Affine) g1 { return g1{elementOf(&p.X), elementOf(&p.Y)} }

func twistPointOf(p *bn254.G2Affine) g2 {
	return g2{
		e2{elementOf(&p.X.A0), elementOf(&p.X.A1)},
		e2{elementOf(&p.Y.A0), elementOf(&p.Y.A1)},
	}
}
