/* The part of the C library's stdlib.h that guests have. */

#ifndef ZKBENCH_STDLIB_H
#define ZKBENCH_STDLIB_H

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

#ifdef __cplusplus
extern "C" {
#endif

/* Calls what was registered, in reverse order, and ends the guest with the code's low byte. If that is 0 and code
   is not, the guest ends with 255. */
__attribute__((noreturn)) void exit(int code);

/* Ends the guest with code 134 at once. */
__attribute__((noreturn)) void abort(void);

/* Registers a function that is called by exit and at the end of main. The result is not 0 if memory runs out. */
int atexit(void (*function)(void));

/* Memory is allocated from the heap in order, and freed memory is not used again. NULL means that memory has
   run out. */
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void free(void *p);

/* alignment must be a power of two. */
void *aligned_alloc(size_t alignment, size_t size);

#ifdef __cplusplus
}
#endif

#endif
