#include "zkbench.h"

#include <string.h>

#include "call.h"

void zkbench_begin(const char *name) {
    zkbench_call2(CALL_BEGIN, name, strlen(name));
}

void zkbench_end(void) {
    zkbench_call2(CALL_END, 0, 0);
}

void zkbench_mulmod(uint64_t z[4], const uint64_t x[4], const uint64_t y[4], const uint64_t m[4]) {
    zkbench_call4(CALL_MULMOD, z, x, y, m);
}

void zkbench_fp_add(uint64_t z[4], const uint64_t x[4], const uint64_t y[4]) {
    zkbench_call3(CALL_FP_ADD, z, x, y);
}

void zkbench_fp_sub(uint64_t z[4], const uint64_t x[4], const uint64_t y[4]) {
    zkbench_call3(CALL_FP_SUB, z, x, y);
}

void zkbench_fp_mul(uint64_t z[4], const uint64_t x[4], const uint64_t y[4]) {
    zkbench_call3(CALL_FP_MUL, z, x, y);
}

void zkbench_fp2_add(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]) {
    zkbench_call3(CALL_FP2_ADD, z, x, y);
}

void zkbench_fp2_sub(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]) {
    zkbench_call3(CALL_FP2_SUB, z, x, y);
}

void zkbench_fp2_mul(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]) {
    zkbench_call3(CALL_FP2_MUL, z, x, y);
}

void zkbench_g1_add(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]) {
    zkbench_call3(CALL_G1_ADD, z, x, y);
}

void zkbench_g1_double(uint64_t z[8], const uint64_t x[8]) {
    zkbench_call2(CALL_G1_DOUBLE, z, x);
}
