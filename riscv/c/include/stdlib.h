/* The part of the C library's stdlib.h that guests get. */

#ifndef ZKBENCH_STDLIB_H
#define ZKBENCH_STDLIB_H

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

#ifdef __cplusplus
extern "C" {
#endif

/* What was registered is called in reverse order, and the guest ends with the code's low byte, or with 255 where that would make a success of a failure. */
__attribute__((noreturn)) void exit(int code);

/* The guest ends with code 134 at once. */
__attribute__((noreturn)) void abort(void);

/* A function that exit calls, and so does the end of main. Not 0: there is no memory for it. */
int atexit(void (*function)(void));

/* Memory is taken from the heap in order, and what is freed is not used again. NULL: there is no more. */
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void free(void *p);

/* alignment is a power of two. */
void *aligned_alloc(size_t alignment, size_t size);

#ifdef __cplusplus
}
#endif

#endif
