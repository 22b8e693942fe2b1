/* Accelerators: all functions in github.com/eth-act/zkvm-standards, standards/c-interface-accelerators. Each is
   an ecall (see Standard in package precompile), which retires one instruction.

   Numbers are big-endian. A point is x, then y; infinity is all zero. An element of Fp2 has its imaginary part
   first on BN254 (EIP-197), and its real part first on BLS12-381 (EIP-2537). A result may overwrite an operand.

   A function returns ZKVM_EFAIL if its input is not valid. It then writes nothing, except false to verified. A
   pointer that the guest may not use, for example a null pointer, ends the guest, and so does a call beyond a
   limit of this machine. The limits are 2^26 bytes for a hash, 2^12 pairs, 2^23 rounds, and 1,024 bytes for each
   number of a modular exponentiation (EIP-7823). */

#ifndef ZKVM_ACCELERATORS_H
#define ZKVM_ACCELERATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define ALIGN8 alignas(8)
extern "C" {
#else
#define ALIGN8 _Alignas(8)
#endif

typedef enum {
    ZKVM_EOK = 0,
    ZKVM_EFAIL = -1
} zkvm_status;

typedef struct { ALIGN8 uint8_t data[16]; } zkvm_bytes_16;
typedef struct { ALIGN8 uint8_t data[32]; } zkvm_bytes_32;
typedef struct { ALIGN8 uint8_t data[48]; } zkvm_bytes_48;
typedef struct { ALIGN8 uint8_t data[64]; } zkvm_bytes_64;
typedef struct { ALIGN8 uint8_t data[96]; } zkvm_bytes_96;
typedef struct { ALIGN8 uint8_t data[128]; } zkvm_bytes_128;
typedef struct { ALIGN8 uint8_t data[192]; } zkvm_bytes_192;

/* Hashes. */

typedef zkvm_bytes_32 zkvm_keccak256_hash;
typedef zkvm_bytes_32 zkvm_sha256_hash;
typedef zkvm_bytes_32 zkvm_ripemd160_hash; /* twelve zero bytes, then 20 */

/* With the padding from before SHA-3, as in Ethereum. */
zkvm_status zkvm_keccak256(const uint8_t *data, size_t len, zkvm_keccak256_hash *output);
zkvm_status zkvm_sha256(const uint8_t *data, size_t len, zkvm_sha256_hash *output);
zkvm_status zkvm_ripemd160(const uint8_t *data, size_t len, zkvm_ripemd160_hash *output);

/* ECDSA: a signature is r, then s, where s may be in either half of its range. A key is a point. */

typedef zkvm_bytes_32 zkvm_secp256k1_hash;
typedef zkvm_bytes_64 zkvm_secp256k1_signature;
typedef zkvm_bytes_64 zkvm_secp256k1_pubkey;
typedef zkvm_bytes_32 zkvm_secp256r1_hash;
typedef zkvm_bytes_64 zkvm_secp256r1_signature;
typedef zkvm_bytes_64 zkvm_secp256r1_pubkey;

/* If the key is not a point, the result is ZKVM_EFAIL. If r or s is out of range, *verified is false. */
zkvm_status zkvm_secp256k1_verify(const zkvm_secp256k1_hash *msg, const zkvm_secp256k1_signature *sig,
                                  const zkvm_secp256k1_pubkey *pubkey, bool *verified);
zkvm_status zkvm_secp256r1_verify(const zkvm_secp256r1_hash *msg, const zkvm_secp256r1_signature *sig,
                                  const zkvm_secp256r1_pubkey *pubkey, bool *verified);

/* recid is 0 to 3. Bit 0 is the parity of y; if bit 1 is set, x is r + n. */
zkvm_status zkvm_secp256k1_ecrecover(const zkvm_secp256k1_hash *msg, const zkvm_secp256k1_signature *sig,
                                     uint8_t recid, zkvm_secp256k1_pubkey *output);

/* Sets output, which has mod_len bytes, to base^exp mod modulus. The result is 0 if the modulus is 0. 0^0 is 1. */
zkvm_status zkvm_modexp(const uint8_t *base, size_t base_len, const uint8_t *exp, size_t exp_len,
                        const uint8_t *modulus, size_t mod_len, uint8_t *output);

/* BN254 (EIP-196, EIP-197). A scalar is any number of 256 bits. */

typedef zkvm_bytes_64 zkvm_bn254_g1_point;
typedef zkvm_bytes_128 zkvm_bn254_g2_point;
typedef zkvm_bytes_32 zkvm_bn254_scalar;
typedef struct {
    zkvm_bn254_g1_point g1;
    zkvm_bn254_g2_point g2;
} zkvm_bn254_pairing_pair;

zkvm_status zkvm_bn254_g1_add(const zkvm_bn254_g1_point *p1, const zkvm_bn254_g1_point *p2,
                              zkvm_bn254_g1_point *result);
zkvm_status zkvm_bn254_g1_mul(const zkvm_bn254_g1_point *point, const zkvm_bn254_scalar *scalar,
                              zkvm_bn254_g1_point *result);

/* Sets *verified to whether the product of the pairings is 1. An empty product is 1. */
zkvm_status zkvm_bn254_pairing(const zkvm_bn254_pairing_pair *pairs, size_t num_pairs, bool *verified);

/* F of BLAKE2b (EIP-152). Words are little-endian. rounds is a number, not an encoded one, and f is 0 or 1. */

typedef zkvm_bytes_64 zkvm_blake2f_state;
typedef zkvm_bytes_128 zkvm_blake2f_message;
typedef zkvm_bytes_16 zkvm_blake2f_offset;

zkvm_status zkvm_blake2f(uint32_t rounds, zkvm_blake2f_state *h, const zkvm_blake2f_message *m,
                         const zkvm_blake2f_offset *t, uint8_t f);

/* KZG with Ethereum's setup (EIP-4844). Points are compressed; z and y must be below the order. */

typedef zkvm_bytes_48 zkvm_kzg_commitment;
typedef zkvm_bytes_48 zkvm_kzg_proof;
typedef zkvm_bytes_32 zkvm_kzg_field_element;

zkvm_status zkvm_kzg_point_eval(const zkvm_kzg_commitment *commitment, const zkvm_kzg_field_element *z,
                                const zkvm_kzg_field_element *y, const zkvm_kzg_proof *proof, bool *verified);

/* BLS12-381 (EIP-2537, without its zero bytes before numbers). The operands of additions must be on the curve,
   all other points in the subgroup. A scalar is any number of 256 bits. */

typedef zkvm_bytes_96 zkvm_bls12_381_g1_point;
typedef zkvm_bytes_192 zkvm_bls12_381_g2_point;
typedef zkvm_bytes_32 zkvm_bls12_381_scalar;
typedef zkvm_bytes_48 zkvm_bls12_381_fp;
typedef zkvm_bytes_96 zkvm_bls12_381_fp2;
typedef struct {
    zkvm_bls12_381_g1_point point;
    zkvm_bls12_381_scalar scalar;
} zkvm_bls12_381_g1_msm_pair;
typedef struct {
    zkvm_bls12_381_g2_point point;
    zkvm_bls12_381_scalar scalar;
} zkvm_bls12_381_g2_msm_pair;
typedef struct {
    zkvm_bls12_381_g1_point g1;
    zkvm_bls12_381_g2_point g2;
} zkvm_bls12_381_pairing_pair;

zkvm_status zkvm_bls12_g1_add(const zkvm_bls12_381_g1_point *p1, const zkvm_bls12_381_g1_point *p2,
                              zkvm_bls12_381_g1_point *result);
zkvm_status zkvm_bls12_g1_msm(const zkvm_bls12_381_g1_msm_pair *pairs, size_t num_pairs,
                              zkvm_bls12_381_g1_point *result);
zkvm_status zkvm_bls12_g2_add(const zkvm_bls12_381_g2_point *p1, const zkvm_bls12_381_g2_point *p2,
                              zkvm_bls12_381_g2_point *result);
zkvm_status zkvm_bls12_g2_msm(const zkvm_bls12_381_g2_msm_pair *pairs, size_t num_pairs,
                              zkvm_bls12_381_g2_point *result);
zkvm_status zkvm_bls12_pairing(const zkvm_bls12_381_pairing_pair *pairs, size_t num_pairs, bool *verified);
zkvm_status zkvm_bls12_map_fp_to_g1(const zkvm_bls12_381_fp *field_element, zkvm_bls12_381_g1_point *result);
zkvm_status zkvm_bls12_map_fp2_to_g2(const zkvm_bls12_381_fp2 *field_element, zkvm_bls12_381_g2_point *result);

#ifdef __cplusplus
}
#endif

#endif
