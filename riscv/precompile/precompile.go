// Package precompile implements precompiles for guests of package riscv: arithmetic on BN254, multiplication
// modulo any 256-bit number, hashes, and the accelerators of a public C interface. Inputs that are not
// canonical are rejected.
//
//	riscv.Run(ctx, program, riscv.Options{Precompiles: precompile.All()})
//
// Guests in Go call the precompiles through package riscv/guest. Guests in C call them as docs/riscv.md
// describes. Package riscv/call says what is in the registers during a call.
//
// The C interface is specified in github.com/eth-act/zkvm-standards, standards/c-interface-accelerators.
package precompile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"math/big"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"golang.org/x/crypto/sha3"

	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// Sets returns sets of precompiles, indexed by the names that commands use for these sets.
func Sets() map[string][]riscv.Precompile {
	return map[string][]riscv.Precompile{"none": nil, "bn254": BN254(), "mulmod": {MulMod()}, "hash": Hashes(), "standard": Standard()}
}

// All returns all precompiles of this package.
func All() []riscv.Precompile {
	return slices.Concat(BN254(), []riscv.Precompile{MulMod()}, Standard())
}

const wordBytes = 32 // in a number of 256 bits

// MulMod returns the precompile for multiplication modulo an arbitrary 256-bit modulus.
func MulMod() riscv.Precompile {
	return riscv.Precompile{Name: "mulmod", Number: call.MulMod, Do: func(g riscv.Guest, args [6]uint64) (uint64, error) {
		x, errX := number(g, args[1])
		y, errY := number(g, args[2])
		m, errM := number(g, args[3])
		if err := errors.Join(errX, errY, errM); err != nil {
			return 0, err
		}
		if x.Cmp(m) >= 0 || y.Cmp(m) >= 0 {
			return 0, errors.New("a factor is not below the modulus")
		}
		x.Mul(x, y).Mod(x, m)
		var raw [wordBytes]byte
		x.FillBytes(raw[:])
		slices.Reverse(raw[:])
		return 0, g.Write(args[0], raw[:])
	}}
}

// number reads a number of 256 bits.
func number(g riscv.Guest, addr uint64) (*big.Int, error) {
	var raw [wordBytes]byte
	err := g.Read(addr, raw[:])
	slices.Reverse(raw[:])
	return new(big.Int).SetBytes(raw[:]), err
}

// BN254 returns the precompiles for Fp (the base field of BN254), Fp2 and G1.
func BN254() []riscv.Precompile {
	return []riscv.Precompile{
		onElements("fp-add", call.FpAdd, 2, 1, func(z, x, y []fp.Element) error { z[0].Add(&x[0], &y[0]); return nil }),
		onElements("fp-sub", call.FpSub, 2, 1, func(z, x, y []fp.Element) error { z[0].Sub(&x[0], &y[0]); return nil }),
		onElements("fp-mul", call.FpMul, 2, 1, func(z, x, y []fp.Element) error { z[0].Mul(&x[0], &y[0]); return nil }),
		onElements("fp2-add", call.Fp2Add, 2, 2, inFp2((*bn254.E2).Add)),
		onElements("fp2-sub", call.Fp2Sub, 2, 2, inFp2((*bn254.E2).Sub)),
		onElements("fp2-mul", call.Fp2Mul, 2, 2, inFp2((*bn254.E2).Mul)),
		onElements("g1-add", call.G1Add, 2, 2, func(z, x, y []fp.Element) error {
			if x[0].Equal(&y[0]) {
				return errors.New("two points with the same x")
			}
			if !onCurve(x) || !onCurve(y) {
				return errNotOnCurve
			}
			var rise, run fp.Element
			rise.Sub(&y[1], &x[1])
			run.Sub(&y[0], &x[0])
			chord(z, x, &y[0], &rise, &run)
			return nil
		}),
		onElements("g1-double", call.G1Double, 1, 2, func(z, x, _ []fp.Element) error {
			if !onCurve(x) { // so y is not 0: the curve has no point of order 2
				return errNotOnCurve
			}
			var rise, run, square fp.Element
			square.Square(&x[0])
			rise.Double(&square).Add(&rise, &square)
			run.Double(&x[1])
			chord(z, x, &x[0], &rise, &run)
			return nil
		}),
	}
}

func inFp2(op func(z, x, y *bn254.E2) *bn254.E2) func(z, x, y []fp.Element) error {
	return func(z, x, y []fp.Element) error {
		v := op(new(bn254.E2), &bn254.E2{A0: x[0], A1: x[1]}, &bn254.E2{A0: y[0], A1: y[1]})
		z[0], z[1] = v.A0, v.A1
		return nil
	}
}

var errNotOnCurve = errors.New("a point is not on the curve")

// onCurve reports whether a point is on BN254. The formulas do not use the curve's constant term: they add on
// any curve y² = x³ + b. Many of these have points of small order, and a guest that multiplies such a point
// by its secret reveals the secret modulo that order.
func onCurve(p []fp.Element) bool {
	q := bn254.G1Affine{X: p[0], Y: p[1]}
	return !q.IsInfinity() && q.IsOnCurve() // gnark-crypto represents the identity as (0, 0), which the formulas cannot add
}

// chord sets z to the sum of p and the point with coordinate x, on a line with slope rise/run.
func chord(z, p []fp.Element, x, rise, run *fp.Element) {
	var slope fp.Element
	slope.Div(rise, run)
	z[0].Square(&slope).Sub(&z[0], &p[0]).Sub(&z[0], x)
	z[1].Sub(&p[0], &z[0]).Mul(&z[1], &slope).Sub(&z[1], &p[1])
}

// onElements returns a precompile on tuples of n <= 2 elements of Fp. It has one operand, x at a1, or two, x
// and y at a2, and writes z to a0.
func onElements(name string, number uint64, operands, n int, do func(z, x, y []fp.Element) error) riscv.Precompile {
	return riscv.Precompile{Name: name, Number: number, Do: func(g riscv.Guest, args [6]uint64) (uint64, error) {
		var v [6]fp.Element // z, x and y
		for i := n; i < (1+operands)*n; i++ {
			var raw [wordBytes]byte
			if err := g.Read(args[i/n]+uint64(i%n*wordBytes), raw[:]); err != nil {
				return 0, err
			}
			var err error
			if v[i], err = fp.LittleEndian.Element(&raw); err != nil {
				return 0, errors.New("a number is not below p")
			}
		}
		if err := do(v[:n], v[n:2*n], v[2*n:3*n]); err != nil {
			return 0, err
		}
		for i := range n {
			var raw [wordBytes]byte
			fp.LittleEndian.PutElement(&raw, v[i])
			if err := g.Write(args[0]+uint64(i*wordBytes), raw[:]); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}}
}

// Hashes returns the precompiles for SHA-256 and Keccak-256. Keccak-256 has the padding of the original
// Keccak, and not that of SHA-3.
func Hashes() []riscv.Precompile {
	return []riscv.Precompile{
		onBytes("keccak256", call.Keccak256, sha3.NewLegacyKeccak256, paddingOfSponge),
		onBytes("sha256", call.SHA256, sha256.New, paddingWithLength),
	}
}

// mostHashed is the maximum number of bytes that one call hashes.
const mostHashed = 1 << 26

// Minimum number of bytes that a hash adds to a message before it splits it into blocks.
const (
	paddingOfSponge   = 1
	paddingWithLength = 1 + 8
)

// onBytes returns a precompile that writes the hash of the a2 bytes at a1 to a0.
func onBytes(name string, number uint64, newHash func() hash.Hash, padding uint64) riscv.Precompile {
	return riscv.Precompile{Name: name, Number: number, Do: func(g riscv.Guest, args [6]uint64) (uint64, error) {
		sum, err := digest(g, newHash(), padding, args[1], args[2])
		if err != nil {
			return 0, err
		}
		return 0, g.Write(args[0], sum)
	}}
}

// digest returns the hash of the n bytes at an address. The units of the call are the hash's blocks.
func digest(g riscv.Guest, h hash.Hash, padding, addr, n uint64) ([]byte, error) {
	if n > mostHashed {
		return nil, fmt.Errorf("%d bytes; accepted: %d", n, mostHashed)
	}
	block := uint64(h.BlockSize())
	g.Units((n + padding + block - 1) / block)
	var part [4096]byte
	for n > 0 {
		p := part[:min(n, uint64(len(part)))]
		if err := g.Read(addr, p); err != nil {
			return nil, err
		}
		h.Write(p)
		addr, n = addr+uint64(len(p)), n-uint64(len(p))
	}
	return h.Sum(nil), nil
}
