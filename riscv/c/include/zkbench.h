/* What this machine has in addition to the standards. A guest that uses it runs on no other machine. */

#ifndef ZKBENCH_H
#define ZKBENCH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* zkbench_begin begins a section, and zkbench_end ends the one that was begun last. Instructions in between are
   counted under the section's name, and under the names of the enclosing sections. A name has 1 to 64 printable
   ASCII characters, without spaces and slashes. */
void zkbench_begin(const char *name);
void zkbench_end(void);

/* Precompiles on numbers of 256 bits, the least significant word first. A number that is not below its modulus
   ends the guest. z may be an operand. */

/* z = x·y mod m */
void zkbench_mulmod(uint64_t z[4], const uint64_t x[4], const uint64_t y[4], const uint64_t m[4]);

/* z = x + y, x - y and x·y in the base field of BN254. */
void zkbench_fp_add(uint64_t z[4], const uint64_t x[4], const uint64_t y[4]);
void zkbench_fp_sub(uint64_t z[4], const uint64_t x[4], const uint64_t y[4]);
void zkbench_fp_mul(uint64_t z[4], const uint64_t x[4], const uint64_t y[4]);

/* z = x + y, x - y and x·y in Fp2 of BN254. Elements are a + b·u with u² = -1, a first. */
void zkbench_fp2_add(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]);
void zkbench_fp2_sub(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]);
void zkbench_fp2_mul(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]);

/* z = x + y and z = 2x for points of BN254, which are their coordinate x, then y. The points of a sum must
   have different coordinates x. A point that is not on the curve ends the guest. */
void zkbench_g1_add(uint64_t z[8], const uint64_t x[8], const uint64_t y[8]);
void zkbench_g1_double(uint64_t z[8], const uint64_t x[8]);

#ifdef __cplusplus
}
#endif

#endif
