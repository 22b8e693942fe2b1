/* Commits to a number of a sequence in which each number is the sum, modulo 2^64, of the two before it, as in Fibonacci's. The
 * input is three little-endian numbers of eight bytes: which number, counted from 0, and the first two. */

#include "zkvm_io.h"

static uint64_t number(const uint8_t *bytes) {
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n |= (uint64_t)bytes[i] << 8 * i;
    return n;
}

int main(void) {
    const uint8_t *input;
    size_t size;
    read_input(&input, &size);
    if (size != 24)
        return 1;
    uint64_t a = number(input + 8), b = number(input + 16);
    for (uint64_t turns = number(input); turns > 0; turns--) {
        uint64_t sum = a + b;
        a = b;
        b = sum;
    }
    uint8_t output[8];
    for (int i = 0; i < 8; i++)
        output[i] = (uint8_t)(a >> 8 * i);
    write_output(output, sizeof output);
    return 0;
}
