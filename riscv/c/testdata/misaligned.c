/* Sums words of 16, 32 and 64 bits at every address of its input, and stores some. */

#include "zkvm_io.h"

static _Alignas(8) uint8_t buffer[64];

int main(void) {
    const uint8_t *input;
    size_t size;
    read_input(&input, &size);
    uint64_t sum[3] = {0, 0, 0};
    for (size_t i = 0; i + 8 <= size; i++) {
        sum[0] += *(const volatile uint16_t *)(const volatile void *)(input + i);
        sum[1] += *(const volatile uint32_t *)(const volatile void *)(input + i);
        sum[2] += *(const volatile uint64_t *)(const volatile void *)(input + i);
    }
    uint8_t *volatile at = buffer + 5; /* of which the compiler does not know how it is aligned */
    *(volatile uint32_t *)(volatile void *)at = 0x04030201;
    write_output((const uint8_t *)sum, sizeof sum);
    write_output(buffer, 12);
    return 0;
}
