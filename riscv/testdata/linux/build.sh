#!/bin/sh
# Makes programs.tar.gz of words.rs and words.zig. It takes zig (0.17.1 gave the committed file: pip install ziglang), and
# cargo with the sources of Rust's std (rustc 1.96.0: rustup component add rust-src), which it compiles for size. Zig is
# the linker of both, and musl their C library. ZIG, CARGO and RUSTC may name other programs.
#
# A program for Linux that need not be small takes less:
#   rustup target add riscv64gc-unknown-linux-musl
#   rustc -O -C target-feature=+crt-static --target riscv64gc-unknown-linux-musl words.rs
#   zig build-exe words.zig -target riscv64-linux-musl -O ReleaseSafe
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir programs rust rust/src fixed free

for kind in fixed free; do # at one address, and at any
  flag=
  [ $kind = fixed ] || flag=-fPIE
  (cd $kind && ${ZIG:-zig} build-exe "$here/words.zig" -target riscv64-linux-musl -O ReleaseSmall -fstrip $flag)
  cp $kind/words programs/zig-$kind
done

cp "$here/words.rs" rust/src/main.rs
cat >rust/Cargo.toml <<'EOF'
[package]
name = "words"
version = "0.0.0"
edition = "2024"
[profile.release]
opt-level = "z"
lto = true
codegen-units = 1
strip = true
EOF
cat >linker <<EOF
#!/bin/bash
args=()
for a in "\$@"; do
  case "\$a" in
  -lgcc_eh | -lgcc | -lgcc_s) args+=(-lunwind) ;;
  --target=*) ;;
  *) args+=("\$a") ;;
  esac
done
exec ${ZIG:-zig} cc -target riscv64-linux-musl "\${args[@]}"
EOF
chmod +x linker
(cd rust && RUSTC_BOOTSTRAP=1 CARGO_TARGET_RISCV64GC_UNKNOWN_LINUX_MUSL_LINKER="$work/linker" \
  RUSTFLAGS="-C target-feature=+crt-static -C relocation-model=static -C link-self-contained=no --remap-path-prefix $work=." \
  ${CARGO:-cargo} build --release -Zbuild-std=std,panic_unwind -Zbuild-std-features=optimize_for_size --target riscv64gc-unknown-linux-musl)
cp rust/target/riscv64gc-unknown-linux-musl/release/words programs/rust

tar --format=ustar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C programs -cf - rust zig-fixed zig-free |
  gzip -9n >"$here/programs.tar.gz"
