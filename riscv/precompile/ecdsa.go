package precompile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/secp256k1"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fp"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"

	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// Verification follows SEC 1, version 2.0, section 4.1.4, and takes the hash, not the message. It accepts s in either
// half of its range. The call fails if the key is not a point; the answer is false if r or s is out of range.

func secp256k1Verify() riscv.Precompile {
	return check("secp256k1-verify", call.Secp256k1Verify, 3, func(g riscv.Guest, args [6]uint64) (bool, error) {
		hash, signature, raw, err := readSigned(g, args)
		if err != nil {
			return false, err
		}
		x, errX := fp.BigEndian.Element((*[32]byte)(raw[:32]))
		y, errY := fp.BigEndian.Element((*[32]byte)(raw[32:]))
		key := secp256k1.G1Affine{X: x, Y: y}
		if errX != nil || errY != nil || key.IsInfinity() || !key.IsOnCurve() {
			return false, errInvalid
		}
		r, s, ok := signatureScalars(signature, fr.Modulus())
		if !ok {
			return false, nil
		}
		sum := combine(hash, r, &key, s)
		if sum.IsInfinity() {
			return false, nil
		}
		v := sum.X.BigInt(new(big.Int))
		return v.Mod(v, fr.Modulus()).Cmp(r) == 0, nil
	})
}

// secp256k1Recover returns the precompile that recovers the key of a signature (SEC 1, version 2.0, section
// 4.1.6). Bit 0 of the recovery id is the parity of the coordinate y of the point R. If bit 1 is set, R's
// coordinate x is r + n.
func secp256k1Recover() riscv.Precompile {
	return accelerator("secp256k1-ecrecover", call.Secp256k1Recover, func(g riscv.Guest, args [6]uint64) error {
		hash, errHash := read(g, args[0], 32)
		signature, errSignature := read(g, args[1], 64)
		if err := errors.Join(errHash, errSignature); err != nil {
			return err
		}
		r, s, ok := signatureScalars(signature, fr.Modulus())
		id := args[2]
		if !ok || id > 3 {
			return errInvalid
		}
		x := new(big.Int).Set(r)
		if id&2 != 0 && x.Add(x, fr.Modulus()).Cmp(fp.Modulus()) >= 0 {
			return errInvalid
		}
		var point secp256k1.G1Affine
		point.X.SetBigInt(x)
		_, b := secp256k1.CurveCoefficients()
		var square fp.Element
		square.Square(&point.X).Mul(&square, &point.X).Add(&square, &b)
		if point.Y.Sqrt(&square) == nil {
			return errInvalid
		}
		if point.Y.Bits()[0]&1 != id&1 {
			point.Y.Neg(&point.Y)
		}
		// R = (z·G + r·Q) / s, so Q = (-z·G + s·R) / r = (z·G + -s·R) / -r.
		key := combine(hash, s.Neg(s), &point, r.Neg(r))
		if key.IsInfinity() {
			return errInvalid
		}
		return g.Write(args[3], append(encodeSecp256k1(&key.X), encodeSecp256k1(&key.Y)...))
	})
}

func encodeSecp256k1(v *fp.Element) []byte {
	var raw [fp.Bytes]byte
	fp.BigEndian.PutElement(&raw, *v)
	return raw[:]
}

// combine returns (z·G + factor·p) / divisor, where z is the hash as a number.
func combine(hash []byte, factor *big.Int, p *secp256k1.G1Affine, divisor *big.Int) *secp256k1.G1Affine {
	inverse := new(big.Int).Mod(divisor, fr.Modulus())
	inverse.ModInverse(inverse, fr.Modulus())
	scaled := func(v *big.Int) *big.Int { v = new(big.Int).Mul(v, inverse); return v.Mod(v, fr.Modulus()) }
	var a, b secp256k1.G1Affine
	a.ScalarMultiplicationBase(scaled(new(big.Int).SetBytes(hash)))
	b.ScalarMultiplication(p, scaled(factor))
	return a.Add(&a, &b)
}

func secp256r1Verify() riscv.Precompile {
	return check("secp256r1-verify", call.Secp256r1Verify, 3, func(g riscv.Guest, args [6]uint64) (bool, error) {
		hash, signature, raw, err := readSigned(g, args)
		if err != nil {
			return false, err
		}
		key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append([]byte{4}, raw...))
		if err != nil {
			return false, errInvalid
		}
		r, s, ok := signatureScalars(signature, elliptic.P256().Params().N)
		return ok && ecdsa.Verify(key, hash, r, s), nil
	})
}

// readSigned reads a hash, a signature and a key.
func readSigned(g riscv.Guest, args [6]uint64) (hash, signature, key []byte, err error) {
	hash, errHash := read(g, args[0], 32)
	signature, errSignature := read(g, args[1], 64)
	key, errKey := read(g, args[2], 64)
	return hash, signature, key, errors.Join(errHash, errSignature, errKey)
}

// signatureScalars returns r and s of a signature. ok reports whether both are in [1, order).
func signatureScalars(signature []byte, order *big.Int) (r, s *big.Int, ok bool) {
	r, s = new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	return r, s, r.Sign() > 0 && r.Cmp(order) < 0 && s.Sign() > 0 && s.Cmp(order) < 0
}
