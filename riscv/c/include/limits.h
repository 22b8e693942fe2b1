/* The compiler's limits.h, without that of a C library, which the macro says that there is already. */

#ifndef _LIBC_LIMITS_H_
#define _LIBC_LIMITS_H_ 1
#endif
#include_next <limits.h>
