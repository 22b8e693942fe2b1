/* Constructors and destructors: the functions that linkers list in .init_array and .fini_array (System V ABI, chapter
   "Dynamic Linking", section "Initialization and Termination Functions"), and those that a program registers while
   it runs (Itanium C++ ABI, section 3.3.6). */

#include "objects.h"

#include <stddef.h>
#include <stdlib.h>

typedef void listed(void);

extern listed *const __construct_start[], *const __construct_end[], *const __destroy_start[], *const __destroy_end[];

void zkbench_construct(void) {
    for (listed *const *f = __construct_start; f < __construct_end; f++)
        (*f)();
}

/* A function that exit calls, in a list of those that were registered before it. */
struct registered {
    void (*function)(void *);
    void *argument;
    struct registered *before;
};

static struct registered *last;

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

/* Its address identifies the library that registers a function. A guest has one library. */
void *__dso_handle;

int __cxa_atexit(void (*function)(void *), void *argument, void *library) {
    (void)library;
    struct registered *r = malloc(sizeof *r);
    if (r == NULL)
        return -1;
    r->function = function;
    r->argument = argument;
    r->before = last;
    last = r;
    return 0;
}

static void call(void *function) {
    (*(listed **)function)();
}

int atexit(listed *function) {
    listed **kept = malloc(sizeof *kept);
    if (kept == NULL)
        return -1;
    *kept = function;
    return __cxa_atexit(call, kept, NULL);
}

/* Each function is removed before it is called, because it may register others or call exit. */
void zkbench_destroy(void) {
    while (last != NULL) {
        struct registered *r = last;
        last = r->before;
        r->function(r->argument);
    }
    static listed *const *end = __destroy_end;
    while (end > __destroy_start)
        (*--end)();
}
