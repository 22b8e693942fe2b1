/* What this machine has beside the standards: a guest that uses it runs on no other. */

#ifndef ZKBENCH_H
#define ZKBENCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is executed until the matching end is counted under a name, 1 to 64 printable bytes of ASCII without
   spaces and slashes, and under those of the sections that it was begun in. */
void zkbench_begin(const char *name);
void zkbench_end(void);

/* Precompiles on numbers of 256 bits, the least word first. What is not below its modulus ends the guest. z may
   be an operand. */

/* z = x·y mod m */
void zkbench_mulmod(uint64_t z[4], const uint64_t x[4], const uint64_t y[4], const uint64_t m[4]);

/* In the base field of BN254. */
void zkbench_fp_add(uint64_t z[4], const uint64_t x[4], const uint64_t y[4]);
void zkbench_fp_sub(uint64_t z[4], const uint64_t x[4], const uint64_t y[4]);
void zkbench_fp_mul(uint64_t z[4], const uint64_t x[4], const uint64_t y[4]);

/* Of a + b·u, a first, where u² = -1. */
void zkbench_fp2_add(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]);
void zkbench_fp2_sub(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]);
void zkbench_fp2_mul(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]);

/* Of points of BN254, x before y: a sum of points whose x differ, and a double. A point that is not on the
   curve ends the guest. */
void zkbench_g1_add(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]);
void zkbench_g1_double(uint64_t z[8], const uint64_t x[8]);

#ifdef __cplusplus
}
#endif

#endif
