#!/bin/sh
# Compiles a guest in C or C++, or links one in another language. The arguments are rv64im or rv32im, then those of the
# compiler, for example
#   sh riscv/c/cc.sh rv64im -O2 guest.c -o guest
# CC names the compiler; the default is riscv64-linux-gnu-gcc. Its system's headers and libraries are for other
# instructions, so they are not used, except for the headers of C++.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
isa=${1:?rv64im or rv32im}
shift
case $isa in
rv64im) abi=lp64 ;;
rv32im) abi=ilp32 ;;
*) echo "cc.sh: $isa; accepted: rv64im, rv32im" >&2 && exit 2 ;;
esac
CC=${CC:-riscv64-linux-gnu-gcc}
case $CC in
*++*) echo "cc.sh: CC is $CC; accepted: a compiler of C, which compiles files of C++ as such" >&2 && exit 2 ;;
esac
command -v "$CC" >/dev/null || { echo "cc.sh: there is no $CC: make deps installs riscv64-linux-gnu-gcc, and CC names another compiler" >&2 && exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C # which explain.awk reads

language=c level='' links=yes
for arg; do
  case $arg in
  *.cc | *.cpp | *.cxx | *.c++ | *.C | c++) language=c++ ;;
  -O* | -g*) level="$level $arg" ;;
  -c | -S | -E | -fsyntax-only) links=no ;;
  esac
done

# headers prints the options that name the folders of the compiler's own headers, which need no C library.
headers() {
  "$CC" -x "$language" -E -v /dev/null 2>&1 | sed -n '/^#include </,/^End of search list/s/^ //p' | while read -r folder; do
    for name in stddef.h cstddef bits/c++config.h; do
      if [ -e "$folder/$name" ]; then echo "-isystem $folder" && break; fi
    done
  done
}

# compile runs the compiler. If something is missing, it prints one line for it, with what guests have instead.
compile() {
  # shellcheck disable=SC2046,SC2086 # options
  if ! "$CC" -march="$isa" -mabi=$abi -mcmodel=medany -static -ffreestanding -fno-pic -fno-exceptions -fno-asynchronous-unwind-tables \
    -Werror=return-type -fno-stack-protector -ffunction-sections -fdata-sections -specs="$here/cxx.specs" -ffile-prefix-map="$work=." \
    -nostdinc -I"$here/include" $(headers) "$@" 2>"$work/errors"; then
    awk -f "$here/explain.awk" "$work/errors" >&2
    exit 1
  fi
  cat "$work/errors" >&2
}

if [ $links = no ]; then
  compile "$@"
  exit
fi
mkdir "$work/lib"
# shellcheck disable=SC2086 # options
(cd "$work/lib" && language=c && compile $level -c "$here/lib/start.S" "$here"/lib/*.c)
compile -nostdlib -Wl,--gc-sections,--build-id=none,-z,max-page-size=4096,-z,noexecstack,-T,"$here/guest.ld" "$work"/lib/*.o "$@"
