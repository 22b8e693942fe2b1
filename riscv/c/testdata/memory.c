/* Memory as C has it, and numbers that take more than the instruction set has. Its input are pairs of numbers of
   64 bits, its output what is done with them. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "zkvm_io.h"

static int initial[3] = {1, 2, 3};
static int zero[100000];
static const char text[] = "constants";

static unsigned char a[64], b[64];

static void bytes(void) {
    for (int from = 0; from < 20; from++) {
        for (int to = 0; to < 20; to++) {
            for (int n = 0; n < 40; n++) {
                for (int i = 0; i < 64; i++)
                    a[i] = b[i] = (unsigned char)(i * 7 + n);
                assert(memmove(a + to, a + from, (size_t)n) == a + to);
                for (int i = 0; i < 64; i++)
                    assert(a[i] == (i >= to && i < to + n ? b[from + i - to] : b[i]));
                assert(memcpy(a, b, 64) == a && memcmp(a, b, 64) == 0);
                assert(memset(a + to, n, (size_t)n) == a + to);
                for (int i = 0; i < 64; i++)
                    assert(a[i] == (i >= to && i < to + n ? n : b[i]));
            }
        }
    }
    assert(memcmp("abc", "abd", 3) < 0 && memcmp("b", "abc", 1) > 0 && memcmp("ab\x80", "ab\x7f", 3) > 0);
    assert(strlen(text) == 9 && strlen("") == 0);
}

static void heap(void) {
    char *before = NULL;
    for (size_t n = 0; n < 2000; n += 17) {
        char *p = malloc(n);
        assert(p != NULL && ((uintptr_t)p & 15) == 0 && (before == NULL || p > before));
        memset(p, 0xff, n);
        before = p;
    }
    char *p = realloc(NULL, 3);
    memcpy(p, "abc", 3);
    p = realloc(p, 100000);
    assert(memcmp(p, "abc", 3) == 0);
    p = realloc(p, 2);
    assert(memcmp(p, "ab", 2) == 0);
    free(p);
    int *numbers = calloc(1000, sizeof *numbers);
    for (int i = 0; i < 1000; i++)
        assert(numbers[i] == 0);
    size_t volatile most = (size_t)-1;
    assert(malloc(most) == NULL && calloc(most, 2) == NULL && malloc(most - 15) == NULL && calloc(most / 2 + 1, 2) == NULL);
    size_t volatile gigabyte = 1 << 30, quarter = 1 << 28;
    char *whole = malloc(gigabyte);
    assert(whole != NULL && malloc(gigabyte) == NULL);
    whole[0] = whole[gigabyte - 1] = 1;
    int blocks = 0;
    while (malloc(quarter) != NULL)
        blocks++;
    assert(blocks == 1);
    while (quarter > 1) /* to the last byte */
        if (malloc(quarter) == NULL)
            quarter /= 2;
    while (malloc(0) != NULL)
        ;
    assert(malloc(1) == NULL);
}

__attribute__((noinline)) static long stack(int depth) {
    volatile long block[1024];
    for (int i = 0; i < 1024; i++)
        block[i] = i;
    return depth == 0 ? 0 : block[depth] + stack(depth - 1);
}

static void put64(uint64_t v) {
    write_output((const uint8_t *)&v, 8);
}

static void numbers(uint64_t x, uint64_t y) {
    put64(y == 0 ? 0 : x / y);
    put64(y == 0 ? 0 : x % y);
    put64(y == 0 ? 0 : (uint64_t)((int64_t)x / (int64_t)y));
    put64(y == 0 ? 0 : (uint64_t)((int64_t)x % (int64_t)y));
    put64(x * y);
    put64(x << (y & 63));
    put64(x >> (y & 63));
    put64((uint64_t)((int64_t)x >> (y & 63)));
    put64((uint64_t)(x == 0 ? 64 : __builtin_clzll(x)));
    put64((uint64_t)(x == 0 ? 64 : __builtin_ctzll(x)));
    put64((uint64_t)__builtin_popcountll(x));
    put64((uint64_t)__builtin_parityll(x));
    put64((uint64_t)__builtin_ffsll((int64_t)x));
    put64(__builtin_bswap64(x));
    uint32_t low = (uint32_t)x;
    put64((uint64_t)(low == 0 ? 32 : __builtin_clz(low)));
    put64((uint64_t)(low == 0 ? 32 : __builtin_ctz(low)));
    put64((uint64_t)__builtin_popcount(low));
    put64((uint64_t)__builtin_parity(low));
    put64((uint64_t)__builtin_bswap32(low));
#if __riscv_xlen == 64
    unsigned __int128 v = (unsigned __int128)x << 64 | y, w = (unsigned __int128)y << (x & 63) | 1;
    __int128 s = (__int128)v, d = -(__int128)w;
    unsigned __int128 all[] = {
        v / w, v % w, (unsigned __int128)(s / d), (unsigned __int128)(s % d),
        v << (y & 127), v >> (y & 127), (unsigned __int128)(s >> (y & 127)), v * w,
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        put64((uint64_t)all[i]);
        put64((uint64_t)(all[i] >> 64));
    }
#endif
}

int main(int argc, char **argv) {
    assert(argc == 0 && argv == NULL);
    assert(initial[0] + initial[1] + initial[2] == 6);
    for (int i = 0; i < 100000; i++)
        assert(zero[i] == 0);
    initial[0] = zero[99999] = 4;
    bytes();
    assert(stack(1000) == 500500);
    const uint8_t *input;
    size_t size;
    read_input(&input, &size);
    for (; size >= 16; input += 16, size -= 16) {
        uint64_t x, y;
        memcpy(&x, input, 8);
        memcpy(&y, input + 8, 8);
        numbers(x, y);
    }
    heap();
    return 0;
}
