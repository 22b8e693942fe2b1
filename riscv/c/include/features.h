/* The C++ headers of compilers for Linux ask their C library for its version. Guests have none. */

#define __GLIBC_PREREQ(major, minor) 0
