#include "zkvm_accelerators.h"

#include "call.h"

zkvm_status zkvm_keccak256(const uint8_t *data, size_t len, zkvm_keccak256_hash *output) {
    return (zkvm_status)zkbench_call3(CALL_KECCAK256, output, data, len);
}

zkvm_status zkvm_sha256(const uint8_t *data, size_t len, zkvm_sha256_hash *output) {
    return (zkvm_status)zkbench_call3(CALL_SHA256, output, data, len);
}

zkvm_status zkvm_ripemd160(const uint8_t *data, size_t len, zkvm_ripemd160_hash *output) {
    return (zkvm_status)zkbench_call3(CALL_RIPEMD160, data, len, output);
}

zkvm_status zkvm_secp256k1_verify(const zkvm_secp256k1_hash *msg, const zkvm_secp256k1_signature *sig,
                                  const zkvm_secp256k1_pubkey *pubkey, bool *verified) {
    return (zkvm_status)zkbench_call4(CALL_SECP256K1_VERIFY, msg, sig, pubkey, verified);
}

zkvm_status zkvm_secp256r1_verify(const zkvm_secp256r1_hash *msg, const zkvm_secp256r1_signature *sig,
                                  const zkvm_secp256r1_pubkey *pubkey, bool *verified) {
    return (zkvm_status)zkbench_call4(CALL_SECP256R1_VERIFY, msg, sig, pubkey, verified);
}

zkvm_status zkvm_secp256k1_ecrecover(const zkvm_secp256k1_hash *msg, const zkvm_secp256k1_signature *sig,
                                     uint8_t recid, zkvm_secp256k1_pubkey *output) {
    return (zkvm_status)zkbench_call4(CALL_SECP256K1_RECOVER, msg, sig, recid, output);
}

zkvm_status zkvm_modexp(const uint8_t *base, size_t base_len, const uint8_t *exp, size_t exp_len,
                        const uint8_t *modulus, size_t mod_len, uint8_t *output) {
    uint64_t words[7] = {
        (uintptr_t)base, base_len, (uintptr_t)exp, exp_len, (uintptr_t)modulus, mod_len, (uintptr_t)output,
    };
    return (zkvm_status)zkbench_call2(CALL_MODEXP, words, 0);
}

zkvm_status zkvm_bn254_g1_add(const zkvm_bn254_g1_point *p1, const zkvm_bn254_g1_point *p2,
                              zkvm_bn254_g1_point *result) {
    return (zkvm_status)zkbench_call3(CALL_BN254_G1_ADD, p1, p2, result);
}

zkvm_status zkvm_bn254_g1_mul(const zkvm_bn254_g1_point *point, const zkvm_bn254_scalar *scalar,
                              zkvm_bn254_g1_point *result) {
    return (zkvm_status)zkbench_call3(CALL_BN254_G1_MUL, point, scalar, result);
}

zkvm_status zkvm_bn254_pairing(const zkvm_bn254_pairing_pair *pairs, size_t num_pairs, bool *verified) {
    return (zkvm_status)zkbench_call3(CALL_BN254_PAIRING, pairs, num_pairs, verified);
}

zkvm_status zkvm_blake2f(uint32_t rounds, zkvm_blake2f_state *h, const zkvm_blake2f_message *m,
                         const zkvm_blake2f_offset *t, uint8_t f) {
    return (zkvm_status)zkbench_call5(CALL_BLAKE2F, (long)rounds, (long)h, (long)m, (long)t, f);
}

zkvm_status zkvm_kzg_point_eval(const zkvm_kzg_commitment *commitment, const zkvm_kzg_field_element *z,
                                const zkvm_kzg_field_element *y, const zkvm_kzg_proof *proof, bool *verified) {
    return (zkvm_status)zkbench_call5(CALL_KZG_POINT_EVAL, (long)commitment, (long)z, (long)y, (long)proof,
                                      (long)verified);
}

zkvm_status zkvm_bls12_g1_add(const zkvm_bls12_381_g1_point *p1, const zkvm_bls12_381_g1_point *p2,
                              zkvm_bls12_381_g1_point *result) {
    return (zkvm_status)zkbench_call3(CALL_BLS12_G1_ADD, p1, p2, result);
}

zkvm_status zkvm_bls12_g1_msm(const zkvm_bls12_381_g1_msm_pair *pairs, size_t num_pairs,
                              zkvm_bls12_381_g1_point *result) {
    return (zkvm_status)zkbench_call3(CALL_BLS12_G1_MSM, pairs, num_pairs, result);
}

zkvm_status zkvm_bls12_g2_add(const zkvm_bls12_381_g2_point *p1, const zkvm_bls12_381_g2_point *p2,
                              zkvm_bls12_381_g2_point *result) {
    return (zkvm_status)zkbench_call3(CALL_BLS12_G2_ADD, p1, p2, result);
}

zkvm_status zkvm_bls12_g2_msm(const zkvm_bls12_381_g2_msm_pair *pairs, size_t num_pairs,
                              zkvm_bls12_381_g2_point *result) {
    return (zkvm_status)zkbench_call3(CALL_BLS12_G2_MSM, pairs, num_pairs, result);
}

zkvm_status zkvm_bls12_pairing(const zkvm_bls12_381_pairing_pair *pairs, size_t num_pairs, bool *verified) {
    return (zkvm_status)zkbench_call3(CALL_BLS12_PAIRING, pairs, num_pairs, verified);
}

zkvm_status zkvm_bls12_map_fp_to_g1(const zkvm_bls12_381_fp *field_element, zkvm_bls12_381_g1_point *result) {
    return (zkvm_status)zkbench_call2(CALL_BLS12_MAP_FP_TO_G1, field_element, result);
}

zkvm_status zkvm_bls12_map_fp2_to_g2(const zkvm_bls12_381_fp2 *field_element, zkvm_bls12_381_g2_point *result) {
    return (zkvm_status)zkbench_call2(CALL_BLS12_MAP_FP2_TO_G2, field_element, result);
}
