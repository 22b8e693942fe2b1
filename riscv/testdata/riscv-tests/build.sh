#!/bin/sh
# Makes programs.tar.gz from a clone of https://github.com/riscv-software-src/riscv-tests that has the commit
# below: build.sh CLONE. It takes the compiler riscv64-linux-gnu-gcc (Debian 12: gcc 12.2.0, binutils 2.40, which
# gave the committed file).
#
# The programs are the suite's for user mode, under its LICENSE, but for the edits below, which are made in the copy:
# rv64uf/move does not set rounding modes, which the executor refuses, and so has none of its cases 2 to 8, of which each
# reads what the one before has set; rv64uc/rvc has its data outside of its code.
# riscv_test.h, in place of the suite's, is how a program starts and ends.
set -eu
commit=34e6b6d1e7936b526075432fb730d89148623484
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git -C "$1" archive "$commit" isa LICENSE | tar -x -C "$work"
cd "$work"

edit() { # file, script of sed, how many lines it takes away, adds or changes
  cp "$1" before
  sed -i "$2" "$1"
  [ "$(diff before "$1" | grep -c '^[<>]')" = "$3" ] || { echo "build.sh: $1 is not what is edited here" >&2 && exit 1; }
}
edit isa/rv64uf/move.S '/^ *TEST_CASE([2-8], /d' 7
edit isa/rv64uc/rvc.S 's/^ *\.align 3;/.pushsection .data; &/;s/^ *\.align 12;/.popsection; &/' 4

# Nothing is relaxed: register gp, by which the linker would reach data, has the number of the test.
build() { # set, architecture, ABI, address, rooms of the suite
  set=$1 march=$2 mabi=$3 at=$4
  shift 4
  mkdir -p "programs/$set"
  for room; do
    for source in isa/"$room"/*.S; do
      riscv64-linux-gnu-gcc -march="$march" -mabi="$mabi" -static -nostdlib -nostartfiles -mcmodel=medany \
        -Wl,--no-relax,--build-id=none,-z,max-page-size=4096,-z,noexecstack,-Ttext-segment="$at" \
        -I"$here" -Iisa/macros/scalar "$source" -o "programs/$set/$room-$(basename "$source" .S)"
    done
  done
  riscv64-linux-gnu-strip -s -R .riscv.attributes "programs/$set"/*
}
build rv64gc rv64gc lp64d 0x10000 rv64ui rv64um rv64ua rv64uf rv64ud rv64uc
build rv64im rv64im_zifencei lp64 0x10000 rv64ui rv64um
build rv32im rv32im_zifencei ilp32 0x80000000 rv32ui rv32um # registers have these addresses sign-extended

cp LICENSE programs/
tar --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C programs -cf - LICENSE rv32im rv64gc rv64im |
  gzip -9n >"$here/programs.tar.gz"
