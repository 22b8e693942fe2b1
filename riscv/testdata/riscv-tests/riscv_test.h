// How a program of the suite starts and ends here: as one of Linux does, in users' mode and with a stack, and by the call
// exit, whose code is 0, or the number of the test that failed. The names are those that the programs use.
#ifndef ZKBENCH_RISCV_TEST_H
#define ZKBENCH_RISCV_TEST_H

// The number of the test that runs.
#define TESTNUM gp

#define ZKBENCH_EXIT /* with the number as the code */ \
  mv a0, TESTNUM; \
  li a7, 93; \
  ecall

#define RVTEST_CODE_BEGIN \
  .globl _start; \
  .text; \
  _start: mv TESTNUM, zero;
#define RVTEST_CODE_END ebreak

#define RVTEST_FAIL ZKBENCH_EXIT;
#define RVTEST_PASS mv TESTNUM, zero; ZKBENCH_EXIT;

#define RVTEST_DATA_BEGIN .balign 16;
#define RVTEST_DATA_END

// The instruction sets are those that the compiler is told.
#define RVTEST_RV32U
#define RVTEST_RV64U
#define RVTEST_RV64UF

#endif
