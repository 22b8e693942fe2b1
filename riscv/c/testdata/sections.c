/* Sections, and what this machine has beside the standards. */

#include <assert.h>

#include "zkbench.h"
#include "zkvm_io.h"

static uint64_t fp[][4] = {{1}, {2}, {7}};
static uint64_t fp2[][8] = {{1, 0, 0, 0, 2}, {3, 0, 0, 0, 4}};
static uint64_t one[8] = {1, 0, 0, 0, 2};

static void put(const uint64_t *v, size_t words) {
    write_output((const uint8_t *)v, words * 8);
}

int main(void) {
    uint64_t z[8];
    zkbench_begin("numbers");
    zkbench_mulmod(z, fp[0], fp[1], fp[2]);
    put(z, 4);
    zkbench_fp_add(z, fp[1], fp[2]);
    put(z, 4);
    zkbench_fp_sub(z, fp[0], fp[1]);
    put(z, 4);
    zkbench_fp_mul(z, fp[1], fp[2]);
    put(z, 4);
    for (int i = 0; i < 3; i++) {
        zkbench_begin("fp2");
        zkbench_fp2_add(z, fp2[0], fp2[1]);
        zkbench_end();
    }
    put(z, 8);
    zkbench_fp2_sub(z, fp2[0], fp2[1]);
    put(z, 8);
    zkbench_fp2_mul(z, fp2[0], fp2[1]);
    put(z, 8);
    zkbench_end();
    zkbench_begin("points");
    zkbench_g1_double(z, one);
    put(z, 8);
    zkbench_g1_add(z, z, one);
    put(z, 8);
    zkbench_end();
    assert(z[0] != 0);
    return 0;
}
