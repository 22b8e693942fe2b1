// Package call has the numbers of the calls that guests make of this module's machine, in register a7
// of an ecall. They are none of Linux, which answers them with ENOSYS. Arguments are in registers a0 to
// a5, results in a0 and a1.
package call

// Calls of any guest.
const (
	Input  = 0x7a6b0000 + iota // returns the address and the length of the input, bytes that are not written to
	Commit                     // of a1 bytes at a0: appends them to the output, without a border to what is there
	Begin                      // begins a section, whose name is the a1 bytes at a0
	End                        // ends the section that was begun last
)

// Precompiles. Numbers are of 256 bits, four little-endian words of 64; z, x, y and m are addresses in
// a0 to a3, of which z may be x or y. What is not below its modulus, and a point that is not on its curve, is refused.
const (
	MulMod    = 0x7a6b0100 + iota // z = x·y mod m, where x and y are below m
	FpAdd                         // z = x + y in Fp, the base field of BN254
	FpSub                         // z = x - y
	FpMul                         // z = x·y
	Fp2Add                        // z = x + y in Fp2 = Fp[u]/(u² + 1): a0, then a1, of a0 + a1·u
	Fp2Sub                        // z = x - y
	Fp2Mul                        // z = x·y
	G1Add                         // z = x + y on y² = x³ + 3 over Fp, two points of the curve of different x: x, then y
	G1Double                      // z = 2x
	Keccak256                     // z, 32 bytes, is the hash of y bytes at x
	SHA256                        // z, 32 bytes, is the hash of y bytes at x
)

// Precompiles of the C interface that eth-act/zkvm-standards has for accelerators. The arguments of its
// functions are in a0 to a5 in their order, but for those of ModExp; a0 is 0 then, or -1 (ZKVM_EFAIL). The
// interface's other two are Keccak256 and SHA256.
const (
	Secp256k1Verify  = 0x7a6b0200 + iota // hash, signature, key, verified
	Secp256k1Recover                     // hash, signature, recovery id, key
	Secp256r1Verify                      // hash, signature, key, verified
	RIPEMD160                            // data, length, hash
	ModExp                               // address of seven words of 64 bits: base, its length, exponent, its length, modulus, its length, result
	BN254G1Add                           // point, point, result
	BN254G1Mul                           // point, scalar, result
	BN254Pairing                         // pairs, their number, verified
	Blake2F                              // rounds, state, message, offset, whether it is the last
	KZGPointEval                         // commitment, z, y, proof, verified
	BLS12G1Add                           // point, point, result
	BLS12G1MSM                           // pairs, their number, result
	BLS12G2Add                           // point, point, result
	BLS12G2MSM                           // pairs, their number, result
	BLS12Pairing                         // pairs, their number, verified
	BLS12MapFpToG1                       // element, result
	BLS12MapFp2ToG2                      // element, result
)

// Own is the first of the numbers that precompiles of others may have, to 0x7a6bffff.
const Own = 0x7a6b1000
