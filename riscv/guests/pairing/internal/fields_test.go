package internal_test

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/riscv/guests/pairing/internal/division"
	"github.com/zkbench/zkbench/riscv/guests/pairing/internal/montgomery"
)

type field[E any] interface {
	*E
	FromLimbs(x *[4]uint64)
	Limbs() [4]uint64
	Add(x, y *E)
	Sub(x, y *E)
	Mul(x, y *E)
}

// TestFields: sums and products are those of gnark-crypto, and operands may be results.
func TestFields(t *testing.T) {
	t.Run("field=montgomery", testField[montgomery.Element])
	t.Run("field=division", testField[division.Element])
}

func testField[E any, P field[E]](t *testing.T) {
	from := func(x *fp.Element) (z E) {
		limbs := x.Bits()
		P(&z).FromLimbs(&limbs)
		return z
	}
	for _, operation := range []struct {
		name string
		ours func(z P, x, y *E)
		want func(z, x, y *fp.Element) *fp.Element
	}{
		{"add", P.Add, (*fp.Element).Add},
		{"sub", P.Sub, (*fp.Element).Sub},
		{"mul", P.Mul, (*fp.Element).Mul},
	} {
		t.Run("operation="+operation.name, rapid.MakeCheck(func(t *rapid.T) {
			x, y := elements.Draw(t, "x"), elements.Draw(t, "y")
			if rapid.Bool().Draw(t, "same") {
				y = x
			}
			var want fp.Element
			operation.want(&want, &x, &y)
			a, b := from(&x), from(&y)
			var c E
			operation.ours(&c, &a, &b)
			if got := P(&c).Limbs(); got != want.Bits() {
				t.Fatalf("got %x, want %x", got, want.Bits())
			}
			first, second := a, b
			operation.ours(&first, &first, &b)
			operation.ours(&second, &a, &second)
			if P(&first).Limbs() != want.Bits() || P(&second).Limbs() != want.Bits() {
				t.Fatal("another result where the result is an operand")
			}
			if P(&a).Limbs() != x.Bits() || P(&b).Limbs() != y.Bits() {
				t.Fatal("operands changed")
			}
		}))
	}
}

// TestMulAdd: sums of products, also of operands up to 2p.
func TestMulAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sum, term fp.Element
		var ours, got montgomery.Element
		var operands [4]montgomery.Element
		var values [4]fp.Element
		for i := range operands {
			values[i] = elements.Draw(t, "value")
			limbs := values[i].Bits()
			operands[i].FromLimbs(&limbs)
			if rapid.Bool().Draw(t, "unreduced") {
				operands[i] = plusP(operands[i])
			}
		}
		sum.Mul(&values[0], &values[1])
		sum.Add(&sum, term.Mul(&values[2], &values[3]))
		want := sum.Bits()
		ours.FromLimbs(&want)
		if got.MulAdd(&operands[0], &operands[1], &operands[2], &operands[3]); got != ours {
			t.Fatalf("got %x, want %x", got, ours)
		}
	})
}

func plusP(x montgomery.Element) montgomery.Element {
	v := new(big.Int)
	for i := range x {
		v.Or(v, new(big.Int).Lsh(new(big.Int).SetUint64(x[i]), uint(64*i)))
	}
	v.Add(v, fp.Modulus())
	for i := range x {
		x[i] = new(big.Int).Rsh(v, uint(64*i)).Uint64()
	}
	return x
}

// elements are at the ends, of few bits set or of few not set, or random.
var elements = rapid.Custom(func(t *rapid.T) (x fp.Element) {
	limb := rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, 1 << 63, ^uint64(0)}), rapid.Uint64())
	v := new(big.Int)
	for range 4 {
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(limb.Draw(t, "limb")))
	}
	if rapid.Bool().Draw(t, "small") {
		v.SetInt64(rapid.Int64Range(-2, 2).Draw(t, "v"))
	}
	x.SetBigInt(v)
	return x
})
