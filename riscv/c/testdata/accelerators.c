/* Does what its input asks for, records of a number, a length of 32 bits and so many bytes; its output has for
   each the status, and what the function gave. Only the standard's functions are used. */

#include <string.h>

#include "zkvm_accelerators.h"
#include "zkvm_io.h"

static ALIGN8 uint8_t in[8192];
static ALIGN8 uint8_t out[256];

#define AT(type, offset) ((const type *)(const void *)(in + (offset)))
#define RESULT(type) ((type *)(void *)out)

static zkvm_status call(uint8_t number, size_t n, size_t *given) {
    bool *verified = (bool *)out;
    switch (number) {
    case 0:
        *given = 32;
        return zkvm_keccak256(in, n, RESULT(zkvm_keccak256_hash));
    case 1:
        *given = 32;
        return zkvm_sha256(in, n, RESULT(zkvm_sha256_hash));
    case 2:
        *given = 32;
        return zkvm_ripemd160(in, n, RESULT(zkvm_ripemd160_hash));
    case 3:
        *given = 1;
        return zkvm_secp256k1_verify(AT(zkvm_secp256k1_hash, 0), AT(zkvm_secp256k1_signature, 32),
                                     AT(zkvm_secp256k1_pubkey, 96), verified);
    case 4:
        *given = 64;
        return zkvm_secp256k1_ecrecover(AT(zkvm_secp256k1_hash, 0), AT(zkvm_secp256k1_signature, 32), in[96],
                                        RESULT(zkvm_secp256k1_pubkey));
    case 5:
        *given = 1;
        return zkvm_secp256r1_verify(AT(zkvm_secp256r1_hash, 0), AT(zkvm_secp256r1_signature, 32),
                                     AT(zkvm_secp256r1_pubkey, 96), verified);
    case 6:
        *given = in[2];
        return zkvm_modexp(in + 3, in[0], in + 3 + in[0], in[1], in + 3 + in[0] + in[1], in[2], out);
    case 7:
        *given = 64;
        return zkvm_bn254_g1_add(AT(zkvm_bn254_g1_point, 0), AT(zkvm_bn254_g1_point, 64),
                                 RESULT(zkvm_bn254_g1_point));
    case 8:
        *given = 64;
        return zkvm_bn254_g1_mul(AT(zkvm_bn254_g1_point, 0), AT(zkvm_bn254_scalar, 64), RESULT(zkvm_bn254_g1_point));
    case 9:
        *given = 1;
        return zkvm_bn254_pairing(AT(zkvm_bn254_pairing_pair, 0), n / sizeof(zkvm_bn254_pairing_pair), verified);
    case 10: {
        uint32_t rounds = (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
        static zkvm_blake2f_state h;
        static zkvm_blake2f_message m;
        static zkvm_blake2f_offset t;
        memcpy(&h, in + 4, sizeof h);
        memcpy(&m, in + 68, sizeof m);
        memcpy(&t, in + 196, sizeof t);
        zkvm_status status = zkvm_blake2f(rounds, &h, &m, &t, in[212]);
        memcpy(out, &h, sizeof h);
        *given = sizeof h;
        return status;
    }
    case 11:
        *given = 1;
        return zkvm_kzg_point_eval(AT(zkvm_kzg_commitment, 0), AT(zkvm_kzg_field_element, 48),
                                   AT(zkvm_kzg_field_element, 80), AT(zkvm_kzg_proof, 112), verified);
    case 12:
        *given = 96;
        return zkvm_bls12_g1_add(AT(zkvm_bls12_381_g1_point, 0), AT(zkvm_bls12_381_g1_point, 96),
                                 RESULT(zkvm_bls12_381_g1_point));
    case 13:
        *given = 96;
        return zkvm_bls12_g1_msm(AT(zkvm_bls12_381_g1_msm_pair, 0), n / sizeof(zkvm_bls12_381_g1_msm_pair),
                                 RESULT(zkvm_bls12_381_g1_point));
    case 14:
        *given = 192;
        return zkvm_bls12_g2_add(AT(zkvm_bls12_381_g2_point, 0), AT(zkvm_bls12_381_g2_point, 192),
                                 RESULT(zkvm_bls12_381_g2_point));
    case 15:
        *given = 192;
        return zkvm_bls12_g2_msm(AT(zkvm_bls12_381_g2_msm_pair, 0), n / sizeof(zkvm_bls12_381_g2_msm_pair),
                                 RESULT(zkvm_bls12_381_g2_point));
    case 16:
        *given = 1;
        return zkvm_bls12_pairing(AT(zkvm_bls12_381_pairing_pair, 0), n / sizeof(zkvm_bls12_381_pairing_pair),
                                  verified);
    case 17:
        *given = 96;
        return zkvm_bls12_map_fp_to_g1(AT(zkvm_bls12_381_fp, 0), RESULT(zkvm_bls12_381_g1_point));
    case 18:
        *given = 192;
        return zkvm_bls12_map_fp2_to_g2(AT(zkvm_bls12_381_fp2, 0), RESULT(zkvm_bls12_381_g2_point));
    }
    return ZKVM_EFAIL;
}

int main(void) {
    const uint8_t *input;
    size_t size;
    read_input(&input, &size);
    while (size > 0) {
        uint32_t n;
        if (size < 5)
            return 1;
        memcpy(&n, input + 1, 4);
        if (n > sizeof in || n > size - 5)
            return 2;
        memcpy(in, input + 5, n);
        memset(out, 0xa5, sizeof out);
        size_t given = 0;
        zkvm_status status = call(input[0], n, &given);
        uint8_t failed = status != ZKVM_EOK;
        if (failed && status != ZKVM_EFAIL)
            return 3;
        write_output(&failed, 1);
        write_output(out, given);
        input += 5 + n;
        size -= 5 + n;
    }
    return 0;
}
