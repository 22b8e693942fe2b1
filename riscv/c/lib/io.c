#include "zkvm_io.h"

#include "call.h"

void read_input(const uint8_t **buf_ptr, size_t *buf_size) {
    register const uint8_t *a0 __asm__("a0");
    register size_t a1 __asm__("a1");
    register long a7 __asm__("a7") = CALL_INPUT;
    __asm__ volatile("ecall" : "=r"(a0), "=r"(a1) : "r"(a7) : "memory");
    *buf_ptr = a0;
    *buf_size = a1;
}

void write_output(const uint8_t *output, size_t size) {
    zkbench_call2(CALL_COMMIT, output, size);
}
