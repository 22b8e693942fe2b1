/* Input and output of a guest: the functions of github.com/eth-act/zkvm-standards, standards/io-interface. */

#ifndef ZKVM_IO_H
#define ZKVM_IO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The private input, *buf_size bytes at *buf_ptr, which are not written to. Each call gives the same. */
void read_input(const uint8_t **buf_ptr, size_t *buf_size);

/* Appends to the public output, without a border to what is there, 64 MiB at most in all: beyond, the guest
   ends. The output counts if the guest ends with code 0. */
void write_output(const uint8_t *output, size_t size);

#ifdef __cplusplus
}
#endif

#endif
