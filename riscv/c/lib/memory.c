#include <stdint.h>
#include <string.h>

#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* that would turn these loops into calls of these functions */
#endif

typedef uintptr_t __attribute__((may_alias)) word;

enum { MASK = sizeof(word) - 1 };

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    return memmove(to, from, n);
}

/* Copies whole words if both addresses are equally aligned. */
void *memmove(void *to, const void *from, size_t n) {
    unsigned char *d = to;
    const unsigned char *s = from;
    int words = (((uintptr_t)d ^ (uintptr_t)s) & MASK) == 0;
    if ((uintptr_t)d - (uintptr_t)s >= n) {
        for (; n > 0 && (!words || ((uintptr_t)d & MASK)); n--)
            *d++ = *s++;
        for (; n >= sizeof(word); n -= sizeof(word), d += sizeof(word), s += sizeof(word))
            *(word *)(void *)d = *(const word *)(const void *)s;
        for (; n > 0; n--)
            *d++ = *s++;
        return to;
    }
    d += n;
    s += n;
    for (; n > 0 && (!words || ((uintptr_t)d & MASK)); n--)
        *--d = *--s;
    for (; n >= sizeof(word); n -= sizeof(word)) {
        d -= sizeof(word);
        s -= sizeof(word);
        *(word *)(void *)d = *(const word *)(const void *)s;
    }
    for (; n > 0; n--)
        *--d = *--s;
    return to;
}

void *memset(void *to, int byte, size_t n) {
    unsigned char *d = to;
    for (; n > 0 && ((uintptr_t)d & MASK); n--)
        *d++ = (unsigned char)byte;
    word all = (word)-1 / 255 * (unsigned char)byte;
    for (; n >= sizeof(word); n -= sizeof(word), d += sizeof(word))
        *(word *)(void *)d = all;
    for (; n > 0; n--)
        *d++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    for (; n > 0; n--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

size_t strlen(const char *s) {
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}
