// Package riscv executes RISC-V programs, guests, and counts what they retire: static programs for
// Linux (RV64GC) of Go, C, C++, Rust or Zig, and bare ones of RV64IM and RV32IM, as zero-knowledge
// machines take them. A developer sees what a guest costs before any prover runs.
//
//	p, err := riscv.Load(raw, nil)
//	r, err := riscv.Run(ctx, p, riscv.Options{Input: input, Precompiles: precompile.All()})
//	fmt.Println(r.Cycles, r.Functions[0].Name, r.Sections[0].Cycles, r.Output)
//
// A guest reads its input, appends to its output, marks sections that are counted apart and calls precompiles
// by the ecalls of package call: in Go by package guest, in C, C++ and Rust by riscv/c. Package precompile has
// precompiles, package cost what a prover's tables would have.
//
// A cycle is a retired instruction. A guest that gets the same input retires the same instructions in
// every run, on every machine: its threads take turns on one processor, its random numbers are always the
// same, and its clock is a function of what it does.
//
// A program for Linux has the calls that docs/riscv.md lists; any other one returns ENOSYS. It has standard input, output
// and error, and sees nothing of the host's files.
//
// Arithmetic of floating point rounds to nearest, ties to even; another mode is a Fault. Code cannot be written.
// Nothing is proved here, and no signal is delivered: what would be one in Go, such as the use of a nil pointer, is a Fault.
//
// Sources: The RISC-V Instruction Set Manual, volume I (20240411); Linux, include/uapi.
package riscv
