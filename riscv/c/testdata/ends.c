/* Ends as the first byte of its input says. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "zkvm_accelerators.h"
#include "zkvm_io.h"

static const int constant[4] = {1, 2, 3, 4};

__attribute__((noinline)) static int deeper(volatile char *above) {
    volatile char here[4096];
    here[0] = above[0];
    return here[0] == 1 ? 0 : deeper(here) + here[0];
}

int main(void) {
    const uint8_t *input;
    size_t size;
    read_input(&input, &size);
    if (size == 0)
        return 0;
    volatile char start = 0;
    switch (input[0]) {
    case 'a':
        abort();
    case 'b':
        assert(size == 0);
        break;
    case 'c':
        return 7;
    case 'd':
        return 256;
    case 'e':
        return -1;
    case 'f':
        exit(3);
    case 'g': {
        int *volatile null = NULL;
        return *null;
    }
    case 'h':
        return deeper(&start);
    case 'i':
        *(volatile int *)(void *)&constant[1] = 5;
        break;
    case 'j':
        *(volatile int *)(void *)main = 0;
        break;
    case 'k':
        *(volatile uint8_t *)(uintptr_t)input = 0;
        break;
    case 'l': {
        bool *volatile nowhere = NULL;
        return zkvm_bn254_pairing(NULL, 0, nowhere);
    }
    }
    return 0;
}
