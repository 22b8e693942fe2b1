/* A guest starts here. The machine has mapped its segments, and memory that is not in the file is zero. Constructors
   run before main, and destructors in exit. */

    .section .text.start, "ax", @progbits
    .globl _start
    .type _start, @function
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la sp, __stack_top
    call zkbench_construct
    li a0, 0
    li a1, 0
    call main
    call exit
    .size _start, . - _start
