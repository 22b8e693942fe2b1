/* The part of the C library's stdlib.h that guests get. */

#ifndef ZKBENCH_STDLIB_H
#define ZKBENCH_STDLIB_H

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

/* The guest ends with the code's low byte, or with 255 where that would make a success of a failure. */
__attribute__((noreturn)) void exit(int code);

/* The guest ends with code 134. */
__attribute__((noreturn)) void abort(void);

/* Memory is taken from the heap in order, and what is freed is not used again. NULL: there is no more. */
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void free(void *p);

#endif
