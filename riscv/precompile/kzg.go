package precompile

import (
	"encoding/hex"
	"errors"
	"math/big"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// kzgTau is [τ]G2 of Ethereum's ceremony, KZG_SETUP_G2_MONOMIAL[1] of the consensus specifications
// (presets/mainnet/trusted_setups/trusted_setup_4096.json).
const kzgTau = "b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72" +
	"185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2"

// kzgPointEval returns the precompile for verify_kzg_proof of EIP-4844. It does not hash the commitment.
func kzgPointEval() riscv.Precompile {
	return check("kzg-point-eval", call.KZGPointEval, 4, func(g riscv.Guest, args [6]uint64) (bool, error) {
		points, errPoints := readAll(g, bls12381.SizeOfG1AffineCompressed, args[0], args[3])
		scalars, errScalars := readAll(g, fr.Bytes, args[1], args[2])
		if err := errors.Join(errPoints, errScalars); err != nil {
			return false, err
		}
		commitment, errC := decompressBLS12G1(points)
		proof, errP := decompressBLS12G1(points[bls12381.SizeOfG1AffineCompressed:])
		z, errZ := fr.BigEndian.Element((*[fr.Bytes]byte)(scalars))
		y, errY := fr.BigEndian.Element((*[fr.Bytes]byte)(scalars[fr.Bytes:]))
		if errC != nil || errP != nil || errZ != nil || errY != nil {
			return false, errInvalid
		}
		// e(C - y·G1, G2) = e(proof, τ·G2 - z·G2), as e(C - y·G1 + z·proof, -G2) · e(proof, τ·G2) = 1.
		tau, err := decodeTau()
		if err != nil {
			return false, err
		}
		_, _, _, minusG2 := bls12381.Generators()
		minusG2.Neg(&minusG2)
		var left, part bls12381.G1Affine
		part.ScalarMultiplicationBase(y.BigInt(new(big.Int)))
		left.Sub(&commitment, &part)
		part.ScalarMultiplication(&proof, z.BigInt(new(big.Int)))
		left.Add(&left, &part)
		return bls12381.PairingCheck([]bls12381.G1Affine{left, proof}, []bls12381.G2Affine{minusG2, tau})
	})
}

func decodeTau() (p bls12381.G2Affine, err error) {
	raw, err := hex.DecodeString(kzgTau)
	if err != nil {
		return p, err
	}
	_, err = p.SetBytes(raw)
	return p, err
}

// decompressBLS12G1 decodes a point of the subgroup from its 48 bytes. SetBytes checks that the first three
// bits are those of a compressed point, that x is below p, and that infinity has no other bits.
func decompressBLS12G1(raw []byte) (p bls12381.G1Affine, err error) {
	_, err = p.SetBytes(raw[:bls12381.SizeOfG1AffineCompressed])
	return p, err
}
