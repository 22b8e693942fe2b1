#!/bin/sh
# Compiles a guest in C: cc.sh rv64im|rv32im, then what the compiler takes, for example
#   sh riscv/c/cc.sh rv64im -O2 guest.c -o guest
# CC is the compiler, riscv64-linux-gnu-gcc where it is not set. Of its own libraries nothing is linked: they are
# for other instructions.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
isa=${1:?rv64im or rv32im}
shift
case $isa in
rv64im) abi=lp64 ;;
rv32im) abi=ilp32 ;;
*) echo "cc.sh: $isa; accepted: rv64im, rv32im" >&2 && exit 2 ;;
esac
exec "${CC:-riscv64-linux-gnu-gcc}" -march="$isa" -mabi=$abi -mcmodel=medany -static -ffreestanding -fno-pic \
  -fno-asynchronous-unwind-tables -fno-stack-protector -ffunction-sections -fdata-sections -I"$here/include" \
  -nostdlib -Wl,--gc-sections,--build-id=none,-z,max-page-size=4096,-z,noexecstack,-T,"$here/guest.ld" \
  "$@" -x assembler-with-cpp "$here/lib/start.S" -x c "$here"/lib/*.c
