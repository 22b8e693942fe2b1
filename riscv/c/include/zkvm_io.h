/* Input and output of a guest: the functions in github.com/eth-act/zkvm-standards, standards/io-interface. */

#ifndef ZKVM_IO_H
#define ZKVM_IO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets *buf_ptr and *buf_size to the address and the size of the private input, which must not be changed.
   Each call gives the same. */
void read_input(const uint8_t **buf_ptr, size_t *buf_size);

/* Appends to the public output, without a separator. More than 64 MiB in all end the guest. The output counts
   only if the guest ends with code 0. */
void write_output(const uint8_t *output, size_t size);

#ifdef __cplusplus
}
#endif

#endif
