package precompile

import (
	"errors"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// Points of BN254 are encoded as in EIP-196 and EIP-197. An element of Fp2 has its imaginary part first.
const (
	bn254G1Bytes = 2 * fp.Bytes
	bn254G2Bytes = 4 * fp.Bytes
)

func bn254G1Add() riscv.Precompile {
	return accelerator("bn254-g1-add", call.BN254G1Add, func(g riscv.Guest, args [6]uint64) error {
		raw, err := readAll(g, bn254G1Bytes, args[0], args[1])
		if err != nil {
			return err
		}
		x, errX := decodeBN254G1(raw)
		y, errY := decodeBN254G1(raw[bn254G1Bytes:])
		if err := errors.Join(errX, errY); err != nil {
			return err
		}
		return g.Write(args[2], encodeBN254G1(x.Add(&x, &y)))
	})
}

func bn254G1Mul() riscv.Precompile {
	return accelerator("bn254-g1-mul", call.BN254G1Mul, func(g riscv.Guest, args [6]uint64) error {
		raw, errPoint := read(g, args[0], bn254G1Bytes)
		scalar, errScalar := read(g, args[1], fr.Bytes)
		if err := errors.Join(errPoint, errScalar); err != nil {
			return err
		}
		p, err := decodeBN254G1(raw)
		if err != nil {
			return err
		}
		s := new(big.Int).SetBytes(scalar) // any value: all points of the curve have order r
		return g.Write(args[2], encodeBN254G1(p.ScalarMultiplication(&p, s.Mod(s, fr.Modulus()))))
	})
}

func bn254Pairing() riscv.Precompile {
	const size = bn254G1Bytes + bn254G2Bytes
	return check("bn254-pairing", call.BN254Pairing, 2, func(g riscv.Guest, args [6]uint64) (bool, error) {
		raw, err := readTerms(g, args[0], args[1], size)
		if err != nil {
			return false, err
		}
		var ps []bn254.G1Affine
		var qs []bn254.G2Affine
		for ; len(raw) > 0; raw = raw[size:] {
			p, errP := decodeBN254G1(raw)
			q, errQ := decodeBN254G2(raw[bn254G1Bytes:])
			if err := errors.Join(errP, errQ); err != nil {
				return false, err
			}
			ps, qs = append(ps, p), append(qs, q)
		}
		if len(ps) == 0 {
			return true, nil
		}
		return bn254.PairingCheck(ps, qs)
	})
}

func decodeBN254Fp(raw []byte, into ...*fp.Element) error {
	for i, v := range into {
		var err error
		if *v, err = fp.BigEndian.Element((*[fp.Bytes]byte)(raw[i*fp.Bytes:])); err != nil {
			return errInvalid
		}
	}
	return nil
}

func decodeBN254G1(raw []byte) (p bn254.G1Affine, err error) {
	if err := decodeBN254Fp(raw, &p.X, &p.Y); err != nil {
		return p, err
	}
	if !p.IsOnCurve() { // every point of the curve is in the group; (0, 0) is infinity
		return p, errInvalid
	}
	return p, nil
}

func decodeBN254G2(raw []byte) (p bn254.G2Affine, err error) {
	if err := decodeBN254Fp(raw, &p.X.A1, &p.X.A0, &p.Y.A1, &p.Y.A0); err != nil {
		return p, err
	}
	if !p.IsInSubGroup() { // also checks the curve's equation; (0, 0) is infinity
		return p, errInvalid
	}
	return p, nil
}

func encodeBN254G1(p *bn254.G1Affine) []byte {
	var x, y [fp.Bytes]byte
	fp.BigEndian.PutElement(&x, p.X)
	fp.BigEndian.PutElement(&y, p.Y)
	return append(x[:], y[:]...)
}
