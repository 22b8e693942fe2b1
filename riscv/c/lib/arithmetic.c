/* Functions that compilers call for operations which the instruction set does not have: on integers of two words,
   and on bits. They have the names of the compilers' own libraries. There are none for floating point. */

#include <stdint.h>

#if __riscv_xlen == 64
typedef unsigned __int128 twice;
typedef __int128 signed_twice;
#define NAME(f) __##f##ti3
#else
typedef uint64_t twice;
typedef int64_t signed_twice;
#define NAME(f) __##f##di3
#endif

enum { BITS = __riscv_xlen };

typedef uintptr_t word;

twice NAME(ashl)(twice v, int n);
twice NAME(lshr)(twice v, int n);
signed_twice NAME(ashr)(signed_twice v, int n);
twice NAME(udiv)(twice a, twice b);
twice NAME(umod)(twice a, twice b);
signed_twice NAME(div)(signed_twice a, signed_twice b);
signed_twice NAME(mod)(signed_twice a, signed_twice b);
int __clzdi2(uint64_t v);
int __ctzdi2(uint64_t v);
int __ffsdi2(uint64_t v);
int __paritydi2(uint64_t v);
int __popcountdi2(uint64_t v);
int __clzsi2(uint32_t v);
int __ctzsi2(uint32_t v);
int __paritysi2(uint32_t v);
int __popcountsi2(uint32_t v);
uint32_t __bswapsi2(uint32_t v);
uint64_t __bswapdi2(uint64_t v);

typedef union {
    twice whole;
    struct {
        word low, high;
    } part;
} halves;

twice NAME(ashl)(twice v, int n) {
    halves h = {.whole = v};
    if (n >= BITS) {
        h.part.high = h.part.low << (n - BITS);
        h.part.low = 0;
    } else if (n > 0) {
        h.part.high = h.part.high << n | h.part.low >> (BITS - n);
        h.part.low <<= n;
    }
    return h.whole;
}

twice NAME(lshr)(twice v, int n) {
    halves h = {.whole = v};
    if (n >= BITS) {
        h.part.low = h.part.high >> (n - BITS);
        h.part.high = 0;
    } else if (n > 0) {
        h.part.low = h.part.low >> n | h.part.high << (BITS - n);
        h.part.high >>= n;
    }
    return h.whole;
}

signed_twice NAME(ashr)(signed_twice v, int n) {
    halves h = {.whole = (twice)v};
    intptr_t high = (intptr_t)h.part.high;
    if (n >= BITS) {
        h.part.low = (word)(high >> (n - BITS));
        h.part.high = (word)(high >> (BITS - 1));
    } else if (n > 0) {
        h.part.low = h.part.low >> n | h.part.high << (BITS - n);
        h.part.high = (word)(high >> n);
    }
    return (signed_twice)h.whole;
}

/* Returns the quotient, computed bit by bit, and sets *rest to the remainder. A quotient by 0 is all ones, as for the
   instruction. */
static twice divide(twice a, twice b, twice *rest) {
    halves n = {.whole = a}, d = {.whole = b};
    if (n.part.high == 0 && d.part.high == 0) {
        *rest = n.part.low % d.part.low;
        return b == 0 ? (twice)-1 : n.part.low / d.part.low;
    }
    twice r = 0;
    for (int i = 0; i < 2 * BITS; i++) {
        int over = (int)(r >> (2 * BITS - 1));
        r = r << 1 | a >> (2 * BITS - 1);
        a <<= 1;
        if (over || r >= b) {
            r -= b;
            a |= 1;
        }
    }
    *rest = r;
    return a;
}

twice NAME(udiv)(twice a, twice b) {
    twice rest;
    return divide(a, b, &rest);
}

twice NAME(umod)(twice a, twice b) {
    twice rest;
    divide(a, b, &rest);
    return rest;
}

static twice magnitude(signed_twice v) {
    return v < 0 ? -(twice)v : (twice)v;
}

signed_twice NAME(div)(signed_twice a, signed_twice b) {
    twice rest, q = divide(magnitude(a), magnitude(b), &rest);
    return (signed_twice)((a < 0) != (b < 0) ? -q : q);
}

signed_twice NAME(mod)(signed_twice a, signed_twice b) {
    twice rest;
    divide(magnitude(a), magnitude(b), &rest);
    return (signed_twice)(a < 0 ? -rest : rest);
}

int __popcountdi2(uint64_t v) {
    v -= v >> 1 & 0x5555555555555555;
    v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (int)(v * 0x0101010101010101 >> 56);
}

int __clzdi2(uint64_t v) {
    for (int n = 1; n < 64; n *= 2)
        v |= v >> n;
    return __popcountdi2(~v);
}

int __ctzdi2(uint64_t v) {
    return __popcountdi2(~v & (v - 1));
}

int __ffsdi2(uint64_t v) {
    return v == 0 ? 0 : 1 + __ctzdi2(v);
}

int __paritydi2(uint64_t v) {
    return __popcountdi2(v) & 1;
}

int __popcountsi2(uint32_t v) {
    return __popcountdi2(v);
}

int __clzsi2(uint32_t v) {
    return __clzdi2(v) - 32;
}

int __ctzsi2(uint32_t v) {
    return __ctzdi2(v);
}

int __paritysi2(uint32_t v) {
    return __popcountdi2(v) & 1;
}

uint32_t __bswapsi2(uint32_t v) {
    v = (v & 0x00ff00ff) << 8 | (v >> 8 & 0x00ff00ff);
    return v << 16 | v >> 16;
}

uint64_t __bswapdi2(uint64_t v) {
    return (uint64_t)__bswapsi2((uint32_t)v) << 32 | __bswapsi2((uint32_t)(v >> 32));
}
