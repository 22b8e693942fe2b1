// The environment of the suite's programs here, in place of env/p: they start as a program of Linux does,
// without registers of the machine's mode, and end by the call exit. Its code is 0, or the number of the
// test that failed.
#ifndef RISCV_TEST_H
#define RISCV_TEST_H

#define TESTNUM gp

#define RVTEST_RV64U
#define RVTEST_RV64UF
#define RVTEST_RV32U
#define RVTEST_RV32UF

// Registers are zero at the start, but for the stack's.
#define RVTEST_CODE_BEGIN \
  .text; \
  .align 6; \
  .globl _start; \
_start: \
  li TESTNUM, 0;

#define RVTEST_CODE_END unimp

#define RVTEST_PASS \
  fence; \
  li a7, 93; \
  li a0, 0; \
  ecall;

#define RVTEST_FAIL \
  fence; \
  li a7, 93; \
  mv a0, TESTNUM; \
  ecall;

#define RVTEST_DATA_BEGIN .align 4;
#define RVTEST_DATA_END .align 4;

#endif
