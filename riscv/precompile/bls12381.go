package precompile

import (
	"errors"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// Points of BLS12-381 are encoded as in EIP-2537, without the 16 zero bytes before each number. An element of Fp2
// has its real part first. Additions take any points of the curve, the other functions only points of the subgroup.
const (
	bls12G1Bytes = 2 * fp.Bytes
	bls12G2Bytes = 4 * fp.Bytes
)

func bls12G1Add() riscv.Precompile {
	return accelerator("bls12-g1-add", call.BLS12G1Add, func(g riscv.Guest, args [6]uint64) error {
		raw, err := readAll(g, bls12G1Bytes, args[0], args[1])
		if err != nil {
			return err
		}
		x, errX := decodeBLS12G1(raw)
		y, errY := decodeBLS12G1(raw[bls12G1Bytes:])
		if err := errors.Join(errX, errY); err != nil {
			return err
		}
		return g.Write(args[2], encodeBLS12G1(x.Add(&x, &y)))
	})
}

func bls12G2Add() riscv.Precompile {
	return accelerator("bls12-g2-add", call.BLS12G2Add, func(g riscv.Guest, args [6]uint64) error {
		raw, err := readAll(g, bls12G2Bytes, args[0], args[1])
		if err != nil {
			return err
		}
		x, errX := decodeBLS12G2(raw)
		y, errY := decodeBLS12G2(raw[bls12G2Bytes:])
		if err := errors.Join(errX, errY); err != nil {
			return err
		}
		return g.Write(args[2], encodeBLS12G2(x.Add(&x, &y)))
	})
}

func bls12G1MSM() riscv.Precompile {
	const size = bls12G1Bytes + fr.Bytes
	return accelerator("bls12-g1-msm", call.BLS12G1MSM, func(g riscv.Guest, args [6]uint64) error {
		raw, err := readTerms(g, args[0], args[1], size)
		if err != nil {
			return err
		}
		n := len(raw) / size
		points, factors := make([]bls12381.G1Affine, n), make([]fr.Element, n)
		for i := range n {
			term := raw[i*size:][:size]
			if points[i], err = decodeBLS12G1(term); err != nil || !points[i].IsInSubGroup() {
				return errInvalid
			}
			factors[i].SetBytes(term[bls12G1Bytes:]) // any 256 bits: points have order r
		}
		var sum bls12381.G1Affine
		if n > 0 {
			if _, err := sum.MultiExp(points, factors, ecc.MultiExpConfig{}); err != nil {
				return err
			}
		}
		return g.Write(args[2], encodeBLS12G1(&sum))
	})
}

func bls12G2MSM() riscv.Precompile {
	const size = bls12G2Bytes + fr.Bytes
	return accelerator("bls12-g2-msm", call.BLS12G2MSM, func(g riscv.Guest, args [6]uint64) error {
		raw, err := readTerms(g, args[0], args[1], size)
		if err != nil {
			return err
		}
		n := len(raw) / size
		points, factors := make([]bls12381.G2Affine, n), make([]fr.Element, n)
		for i := range n {
			term := raw[i*size:][:size]
			if points[i], err = decodeBLS12G2(term); err != nil || !points[i].IsInSubGroup() {
				return errInvalid
			}
			factors[i].SetBytes(term[bls12G2Bytes:])
		}
		var sum bls12381.G2Affine
		if n > 0 {
			if _, err := sum.MultiExp(points, factors, ecc.MultiExpConfig{}); err != nil {
				return err
			}
		}
		return g.Write(args[2], encodeBLS12G2(&sum))
	})
}

func bls12Pairing() riscv.Precompile {
	const size = bls12G1Bytes + bls12G2Bytes
	return check("bls12-pairing", call.BLS12Pairing, 2, func(g riscv.Guest, args [6]uint64) (bool, error) {
		raw, err := readTerms(g, args[0], args[1], size)
		if err != nil {
			return false, err
		}
		var ps []bls12381.G1Affine
		var qs []bls12381.G2Affine
		for ; len(raw) > 0; raw = raw[size:] {
			p, errP := decodeBLS12G1(raw)
			q, errQ := decodeBLS12G2(raw[bls12G1Bytes:])
			if errP != nil || errQ != nil || !p.IsInSubGroup() || !q.IsInSubGroup() {
				return false, errInvalid
			}
			ps, qs = append(ps, p), append(qs, q)
		}
		if len(ps) == 0 {
			return true, nil
		}
		return bls12381.PairingCheck(ps, qs)
	})
}

func bls12MapToG1() riscv.Precompile {
	return accelerator("bls12-map-fp-to-g1", call.BLS12MapFpToG1, func(g riscv.Guest, args [6]uint64) error {
		raw, err := read(g, args[0], fp.Bytes)
		if err != nil {
			return err
		}
		var u fp.Element
		if err := decodeBLS12Fp(raw, &u); err != nil {
			return err
		}
		p := bls12381.MapToG1(u)
		return g.Write(args[1], encodeBLS12G1(&p))
	})
}

func bls12MapToG2() riscv.Precompile {
	return accelerator("bls12-map-fp2-to-g2", call.BLS12MapFp2ToG2, func(g riscv.Guest, args [6]uint64) error {
		raw, err := read(g, args[0], 2*fp.Bytes)
		if err != nil {
			return err
		}
		var u bls12381.E2
		if err := decodeBLS12Fp(raw, &u.A0, &u.A1); err != nil {
			return err
		}
		p := bls12381.MapToG2(u)
		return g.Write(args[1], encodeBLS12G2(&p))
	})
}

func decodeBLS12Fp(raw []byte, into ...*fp.Element) error {
	for i, v := range into {
		var err error
		if *v, err = fp.BigEndian.Element((*[fp.Bytes]byte)(raw[i*fp.Bytes:])); err != nil {
			return errInvalid
		}
	}
	return nil
}

// decodeBLS12G1 decodes a point of the curve, which may be outside the subgroup.
func decodeBLS12G1(raw []byte) (p bls12381.G1Affine, err error) {
	if err := decodeBLS12Fp(raw, &p.X, &p.Y); err != nil {
		return p, err
	}
	if !p.IsOnCurve() { // (0, 0) is infinity
		return p, errInvalid
	}
	return p, nil
}

// decodeBLS12G2 decodes a point of the curve, which may be outside the subgroup.
func decodeBLS12G2(raw []byte) (p bls12381.G2Affine, err error) {
	if err := decodeBLS12Fp(raw, &p.X.A0, &p.X.A1, &p.Y.A0, &p.Y.A1); err != nil {
		return p, err
	}
	if !p.IsOnCurve() { // (0, 0) is infinity
		return p, errInvalid
	}
	return p, nil
}

func encodeBLS12Fp(elements ...fp.Element) (out []byte) {
	for _, v := range elements {
		var raw [fp.Bytes]byte
		fp.BigEndian.PutElement(&raw, v)
		out = append(out, raw[:]...)
	}
	return out
}

func encodeBLS12G1(p *bls12381.G1Affine) []byte { return encodeBLS12Fp(p.X, p.Y) }

func encodeBLS12G2(p *bls12381.G2Affine) []byte {
	return encodeBLS12Fp(p.X.A0, p.X.A1, p.Y.A0, p.Y.A1)
}
