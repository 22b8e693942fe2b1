#!/bin/sh
# Makes the programs that workload guest-prove proves. riscv64-linux-gnu-gcc 12.2.0 gave the committed files.
set -eu
cd "$(dirname "$0")"
root=../../../..
sh $root/riscv/c/cc.sh rv64im -O2 -s $root/examples/guest/hash.c -o hash.elf
sh $root/riscv/c/cc.sh rv64im -O2 -s loop.c -o loop.elf
