package riscv

import (
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
