/* assert writes a condition that does not hold to standard error, and aborts. */

#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define ZKBENCH_TEXT_(x) #x
#define ZKBENCH_TEXT(x) ZKBENCH_TEXT_(x)
#define assert(condition) \
    ((condition) ? (void)0 : zkbench_assert_failed(__FILE__ ":" ZKBENCH_TEXT(__LINE__) ": " #condition "\n"))
#endif

#if !defined(__cplusplus) && !defined(static_assert)
#define static_assert _Static_assert
#endif

#ifndef ZKBENCH_ASSERT_H
#define ZKBENCH_ASSERT_H
#ifdef __cplusplus
extern "C"
#endif
__attribute__((noreturn)) void zkbench_assert_failed(const char *text);
#endif
