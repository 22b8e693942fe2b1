/* Calls of the machine: numbers in a7, those of package riscv/call and two of Linux. */

#ifndef ZKBENCH_CALL_H
#define ZKBENCH_CALL_H

enum {
    CALL_WRITE = 64,
    CALL_EXIT = 93,

    CALL_INPUT = 0x7a6b0000,
    CALL_COMMIT,
    CALL_BEGIN,
    CALL_END,

    CALL_MULMOD = 0x7a6b0100,
    CALL_FP_ADD,
    CALL_FP_SUB,
    CALL_FP_MUL,
    CALL_FP2_ADD,
    CALL_FP2_SUB,
    CALL_FP2_MUL,
    CALL_G1_ADD,
    CALL_G1_DOUBLE,
    CALL_KECCAK256,
    CALL_SHA256,

    CALL_SECP256K1_VERIFY = 0x7a6b0200,
    CALL_SECP256K1_RECOVER,
    CALL_SECP256R1_VERIFY,
    CALL_RIPEMD160,
    CALL_MODEXP,
    CALL_BN254_G1_ADD,
    CALL_BN254_G1_MUL,
    CALL_BN254_PAIRING,
    CALL_BLAKE2F,
    CALL_KZG_POINT_EVAL,
    CALL_BLS12_G1_ADD,
    CALL_BLS12_G1_MSM,
    CALL_BLS12_G2_ADD,
    CALL_BLS12_G2_MSM,
    CALL_BLS12_PAIRING,
    CALL_BLS12_MAP_FP_TO_G1,
    CALL_BLS12_MAP_FP2_TO_G2,
};

/* A call with five arguments, and what is in a0 then. */
__attribute__((always_inline)) static inline long zkbench_call5(long number, long v0, long v1, long v2, long v3, long v4) {
    register long a0 __asm__("a0") = v0;
    register long a1 __asm__("a1") = v1;
    register long a2 __asm__("a2") = v2;
    register long a3 __asm__("a3") = v3;
    register long a4 __asm__("a4") = v4;
    register long a7 __asm__("a7") = number;
    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a3), "r"(a4), "r"(a7) : "memory");
    return a0;
}

#define zkbench_call4(number, a, b, c, d) zkbench_call5(number, (long)(a), (long)(b), (long)(c), (long)(d), 0)
#define zkbench_call3(number, a, b, c) zkbench_call4(number, a, b, c, 0)
#define zkbench_call2(number, a, b) zkbench_call4(number, a, b, 0, 0)

#endif
