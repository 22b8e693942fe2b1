// The suite's test_macros.h, but that the flags of floating point are cleared and not compared: the results
// are.
#ifndef RESULTS_ONLY_H
#define RESULTS_ONLY_H

#include_next "test_macros.h"

#undef TEST_FP_OP_S_INTERNAL
#define TEST_FP_OP_S_INTERNAL( testnum, flags, result, val1, val2, val3, code... ) \
test_ ## testnum: \
  li  TESTNUM, testnum; \
  la  a0, test_ ## testnum ## _data ;\
  flw f10, 0(a0); \
  flw f11, 4(a0); \
  flw f12, 8(a0); \
  lw  a3, 12(a0); \
  code; \
  fsflags x0; \
  bne a0, a3, fail; \
  .pushsection .data; \
  .align 2; \
  test_ ## testnum ## _data: \
  .val1; \
  .val2; \
  .val3; \
  .result; \
  .popsection

#undef TEST_FP_OP_D_INTERNAL
#define TEST_FP_OP_D_INTERNAL( testnum, flags, result, val1, val2, val3, code... ) \
test_ ## testnum: \
  li  TESTNUM, testnum; \
  la  a0, test_ ## testnum ## _data ;\
  fld f10, 0(a0); \
  fld f11, 8(a0); \
  fld f12, 16(a0); \
  ld  a3, 24(a0); \
  code; \
  fsflags x0; \
  bne a0, a3, fail; \
  .pushsection .data; \
  .align 3; \
  test_ ## testnum ## _data: \
  .val1; \
  .val2; \
  .val3; \
  .result; \
  .popsection

#endif
