// Package call lists the numbers of the calls that guests make to package riscv's machine. A guest makes a call
// with the ecall instruction: the number is in register a7, the arguments are in a0 to a5, and the results are
// in a0 and a1. Linux does not use these numbers and answers them with ENOSYS.
package call

// Calls that every machine has.
const (
	Input  = 0x7a6b0000 + iota // returns the address of the input in a0 and its length in a1; the input is read-only
	Commit                     // appends the a1 bytes at a0 to the output, without a separator
	Begin                      // begins a section, a region that is counted separately; its name is the a1 bytes at a0
	End                        // ends the section that was begun last
)

// Precompiles on numbers and points, and hashes. Numbers have 256 bits: four words of 64 bits, the least
// significant first, little-endian. The addresses of z, x, y and m are in a0 to a3; z may be x or y. Numbers must be
// below their modulus, and points on their curve: otherwise the guest ends with a fault.
const (
	MulMod    = 0x7a6b0100 + iota // z = x·y mod m, where x and y are below m
	FpAdd                         // z = x + y in Fp, the base field of BN254
	FpSub                         // z = x - y
	FpMul                         // z = x·y
	Fp2Add                        // z = x + y in Fp2 = Fp[u]/(u² + 1); a0 + a1·u is a0, then a1
	Fp2Sub                        // z = x - y
	Fp2Mul                        // z = x·y
	G1Add                         // z = x + y on the curve y² = x³ + 3 over Fp; points are x, then y, and their x must differ
	G1Double                      // z = 2x
	Keccak256                     // z, 32 bytes, is the hash of the a2 bytes at x
	SHA256                        // z, 32 bytes, is the hash of the a2 bytes at x
)

// Precompiles of the C interface for accelerators in eth-act/zkvm-standards. The arguments of a function are in
// a0 to a5, in their order; for ModExp a0 is the address of its arguments. The call sets a0 to 0, or to -1
// (ZKVM_EFAIL) if its inputs are not valid. The interface's other two functions are Keccak256 and SHA256.
const (
	Secp256k1Verify  = 0x7a6b0200 + iota // hash, signature, key, verified
	Secp256k1Recover                     // hash, signature, recovery id, key
	Secp256r1Verify                      // hash, signature, key, verified
	RIPEMD160                            // data, length, hash
	ModExp                               // address of seven 64-bit words: base, its length, exponent, its length, modulus, its length, result
	BN254G1Add                           // point, point, result
	BN254G1Mul                           // point, scalar, result
	BN254Pairing                         // pairs, their number, verified
	Blake2F                              // rounds, state, message, offset, 1 if the block is the last
	KZGPointEval                         // commitment, z, y, proof, verified
	BLS12G1Add                           // point, point, result
	BLS12G1MSM                           // pairs, their number, result
	BLS12G2Add                           // point, point, result
	BLS12G2MSM                           // pairs, their number, result
	BLS12Pairing                         // pairs, their number, verified
	BLS12MapFpToG1                       // element, result
	BLS12MapFp2ToG2                      // element, result
)

// Own is the first number for a user's own precompiles; the last is 0x7a6bffff.
const Own = 0x7a6b1000
