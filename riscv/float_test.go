package riscv

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFMA32: a product and a sum are rounded once, also where the sum lies next to the middle between two
// numbers, by no more than what double precision loses.
func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() float32 {
		return math.Float32frombits(rng.Uint32()&(1<<31|1<<23-1) | uint32(0x50+rng.IntN(0x60))<<23)
	}
	exact := func(v float32) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(float64(v)) }
	twice := 0
	for i := range 200_000 {
		a, b, c := number(), number(), number()
		if i%2 == 0 { // the product has a bit at the middle, and c one far below or none
			a, b = float32(1<<23+rng.IntN(1<<22)*2+1), 1.5
			c = math.Float32frombits(uint32(rng.IntN(2))<<31 | uint32(0x30+rng.IntN(0x40))<<23)
		}
		sum := exact(a)
		sum.Mul(sum, exact(b)).Add(sum, exact(c))
		want, _ := sum.Float32()
		if got := fma32(a, b, c); got != want {
			t.Fatalf("%v · %v + %v = %v, want %v", a, b, c, got, want)
		}
		if float32(float64(a)*float64(b)+float64(c)) != want {
			twice++
		}
	}
	if twice == 0 {
		t.Error("no case that rounding twice gets wrong")
	}
}

// TestIsExact: whether a result is exact is what numbers of any precision say, for operands of all exponents, of few bits
// or of many.
func TestIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	number := func(near int) float64 {
		bits := rng.Uint64() & (1<<52 - 1)
		if rng.IntN(2) == 0 {
			bits &= 0xff << rng.IntN(52)
		}
		exponent := rng.IntN(0x7ff)
		if near > 0 {
			exponent = min(max(near+rng.IntN(120)-60, 0), 0x7fe)
		}
		return math.Float64frombits(rng.Uint64()&(1<<63) | uint64(exponent)<<52 | bits)
	}
	exponent := func(v float64) int { return int(math.Float64bits(v) >> 52 & 0x7ff) }
	found := make(map[string]int)
	for range 100_000 {
		a, b := number(0), number(0)
		for kind, r := range map[op]float64{kindAdd: a + b, kindMul: a * b, kindDiv: a / b} {
			checkExact(t, found, kind, r, [3]float64{a, b})
		}
		b = number(exponent(a))
		checkExact(t, found, kindAdd, a+b, [3]float64{a, b})
		checkExact(t, found, kindDiv, a*b/b, [3]float64{a * b, b})
		c := -number(max(exponent(a*b), 1))
		checkExact(t, found, kindMadd, math.FMA(a, b, c), [3]float64{a, b, c})
		b, c = number(max(1, 0x3ff-exponent(a))), number(1+rng.IntN(120))
		checkExact(t, found, kindMadd, math.FMA(a, b, c), [3]float64{a, b, c})
		checkExact(t, found, kindMadd, math.FMA(a, b, -a*b), [3]float64{a, b, -a * b})
	}
	for _, kind := range []op{kindAdd, kindMul, kindDiv, kindMadd} {
		for _, exact := range []bool{false, true} {
			if what := fmt.Sprint(kind, exact); found[what] < 1000 {
				t.Errorf("%d results of kind %s", found[what], what)
			}
		}
	}
}

func checkExact(t *testing.T, found map[string]int, kind op, r float64, v [3]float64) {
	t.Helper()
	for _, v := range append(v[:], r) {
		if v != v || math.IsInf(v, 0) {
			return
		}
	}
	if kind == kindDiv && v[1] == 0 {
		return
	}
	n, d := fraction(kind, v)
	if kind == kindAdd {
		n.Add(n, wide(v[1]))
	}
	want := d.Mul(d, wide(r)).Cmp(n) == 0
	if got := isExact(kind, r, v); got != want {
		t.Fatalf("kind %d of %v: %v is exact: %v, want %v", kind, v, r, got, want)
	}
	found[fmt.Sprint(kind, want)]++
}

// FuzzDecode: every word is an instruction, or none, whatever the instruction set, and writes to no
// register that there is not.
func FuzzDecode(f *testing.F) {
	f.Add(uint32(0x00000013), uint64(0x10000))
	f.Add(uint32(0xffffffff), uint64(0))
	f.Fuzz(func(t *testing.T, w uint32, pc uint64) {
		for _, isa := range []ISA{rv64gc, rv64im, rv32im} {
			for _, in := range []instr{isa.decode(w, pc), isa.decode(isa.expand(uint16(w)), pc)} {
				if in.op > opCsr || in.rd > sink || in.rs1 > 31 || in.rs2 > 31 || in.rs3 > 31 || in.op.class() >= classes {
					t.Errorf("%v: %#x is %+v", isa, w, in)
				}
				if isa != rv64gc && in.op.class() == Float {
					t.Errorf("%v: %#x is %+v", isa, w, in)
				}
			}
		}
	})
}
