/* Functions that C++ compilers call, with the names that these give them (Itanium C++ ABI, sections 3.2.6 and 3.3.2).
   A program may define each of these functions itself. If C++ would throw, the guest prints why and aborts, since
   guests have no exceptions. */

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#if __riscv_xlen == 64
#define SIZE "m" /* size_t in a mangled name */
#else
#define SIZE "j"
#endif
#define ALIGNMENT "St11align_val_t"
#define NOTHROW "RKSt9nothrow_t"

/* A function that a program may define, by its name in object files. */
#define NAMED(name) __asm__(name) __attribute__((weak))

void pure_virtual(void) NAMED("__cxa_pure_virtual");
void deleted_virtual(void) NAMED("__cxa_deleted_virtual");

void pure_virtual(void) {
    zkbench_assert_failed("a pure virtual function was called\n");
}

void deleted_virtual(void) {
    zkbench_assert_failed("a deleted virtual function was called\n");
}

/* The guard of a static local object: byte 0 says that it has been constructed, byte 1 that its constructor runs. */
int guard_acquire(unsigned char *guard) NAMED("__cxa_guard_acquire");
void guard_release(unsigned char *guard) NAMED("__cxa_guard_release");
void guard_abort(unsigned char *guard) NAMED("__cxa_guard_abort");

int guard_acquire(unsigned char *guard) {
    if (guard[0])
        return 0;
    if (guard[1])
        zkbench_assert_failed("the constructor of a static local object needs the object\n");
    guard[1] = 1;
    return 1;
}

void guard_release(unsigned char *guard) {
    guard[0] = 1;
    guard[1] = 0;
}

void guard_abort(unsigned char *guard) {
    guard[1] = 0;
}

static void *or_end(void *p) {
    if (p == NULL)
        zkbench_assert_failed("operator new: no memory is left\n");
    return p;
}

static void *operator_new(size_t size) {
    return or_end(malloc(size));
}

static void *operator_new_aligned(size_t size, size_t alignment) {
    return or_end(aligned_alloc(alignment, size));
}

static void operator_delete(void *p) {
    free(p);
}

/* operator new and delete. The forms for arrays and those with more arguments call these three, so that a program that
   replaces one also replaces the forms that call it. */
void *new_object(size_t) NAMED("_Znw" SIZE) __attribute__((alias("operator_new")));
void *new_aligned(size_t, size_t) NAMED("_Znw" SIZE ALIGNMENT) __attribute__((alias("operator_new_aligned")));
void delete_object(void *) NAMED("_ZdlPv") __attribute__((alias("operator_delete")));

void *new_array(size_t) NAMED("_Zna" SIZE);
void *new_array_aligned(size_t, size_t) NAMED("_Zna" SIZE ALIGNMENT);

void *new_array(size_t size) {
    return new_object(size);
}

void *new_array_aligned(size_t size, size_t alignment) {
    return new_aligned(size, alignment);
}

/* The forms that do not throw return NULL. If the program has its own operator new, they call it unchanged. */
void *try_object(size_t, const void *) NAMED("_Znw" SIZE NOTHROW);
void *try_array(size_t, const void *) NAMED("_Zna" SIZE NOTHROW);
void *try_aligned(size_t, size_t, const void *) NAMED("_Znw" SIZE ALIGNMENT NOTHROW);
void *try_array_aligned(size_t, size_t, const void *) NAMED("_Zna" SIZE ALIGNMENT NOTHROW);

const char nothrow NAMED("_ZSt7nothrow") = 0;

void *try_object(size_t size, const void *tag) {
    (void)tag;
    return new_object == operator_new ? malloc(size) : new_object(size);
}

void *try_array(size_t size, const void *tag) {
    (void)tag;
    return new_object == operator_new ? malloc(size) : new_array(size);
}

void *try_aligned(size_t size, size_t alignment, const void *tag) {
    (void)tag;
    return new_aligned == operator_new_aligned ? aligned_alloc(alignment, size) : new_aligned(size, alignment);
}

void *try_array_aligned(size_t size, size_t alignment, const void *tag) {
    (void)tag;
    return new_aligned == operator_new_aligned ? aligned_alloc(alignment, size) : new_array_aligned(size, alignment);
}

/* The other forms of operator delete have more arguments: a size, an alignment or std::nothrow. These are in
   registers that the functions here do not read. */
#define DELETE(function, name, by)   \
    void function(void *) NAMED(name); \
    void function(void *p) {         \
        by(p);                       \
    }

DELETE(delete_array, "_ZdaPv", delete_object)
DELETE(delete_sized, "_ZdlPv" SIZE, delete_object)
DELETE(delete_array_sized, "_ZdaPv" SIZE, delete_array)
DELETE(delete_nothrow, "_ZdlPv" NOTHROW, delete_object)
DELETE(delete_array_nothrow, "_ZdaPv" NOTHROW, delete_array)
DELETE(delete_aligned, "_ZdlPv" ALIGNMENT, delete_object)
DELETE(delete_array_aligned, "_ZdaPv" ALIGNMENT, delete_array)
DELETE(delete_sized_aligned, "_ZdlPv" SIZE ALIGNMENT, delete_aligned)
DELETE(delete_array_sized_aligned, "_ZdaPv" SIZE ALIGNMENT, delete_array_aligned)
DELETE(delete_aligned_nothrow, "_ZdlPv" ALIGNMENT NOTHROW, delete_aligned)
DELETE(delete_array_aligned_nothrow, "_ZdaPv" ALIGNMENT NOTHROW, delete_array_aligned)

/* Functions that libstdc++'s containers, which are all in its headers, call to throw. */
#define ENDS(function, name, text)                \
    _Noreturn void function(void) NAMED(name);    \
    _Noreturn void function(void) {               \
        zkbench_assert_failed("std::" text "\n"); \
    }

ENDS(bad_alloc, "_ZSt17__throw_bad_allocv", "bad_alloc")
ENDS(bad_array_new_length, "_ZSt28__throw_bad_array_new_lengthv", "bad_array_new_length")
ENDS(length_error, "_ZSt20__throw_length_errorPKc", "length_error")
ENDS(out_of_range, "_ZSt20__throw_out_of_rangePKc", "out_of_range")
ENDS(out_of_range_fmt, "_ZSt24__throw_out_of_range_fmtPKcz", "out_of_range")
ENDS(logic_error, "_ZSt19__throw_logic_errorPKc", "logic_error")
ENDS(invalid_argument, "_ZSt24__throw_invalid_argumentPKc", "invalid_argument")
