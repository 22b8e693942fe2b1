// Package riscv executes RISC-V programs, called guests, and counts the instructions that they retire. It
// runs static programs for Linux (RV64GC), for example from Go, C, C++, Rust or Zig. It also runs bare
// programs for RV64IM and RV32IM, the instruction sets of zero-knowledge machines. Developers see what a
// guest costs before any prover runs.
//
//	p, err := riscv.Load(raw, nil)
//	r, err := riscv.Run(ctx, p, riscv.Options{Input: input, Precompiles: precompile.All()})
//	fmt.Println(r.Cycles, r.Functions[0].Name, r.Sections[0].Cycles, r.Output)
//
// A guest uses the ecalls of package call to read its input, append to its output, mark sections (regions
// that are counted separately) and call precompiles. Guests in Go make these calls with package guest. Guests
// in C, C++ and Rust make them with the files in riscv/c. Package precompile implements precompiles. Package
// cost estimates the tables of a prover.
//
// A cycle is one retired instruction. With the same input, a guest retires the same instructions in every run
// and on every machine: its threads take turns on one processor, its random numbers are always the same, and
// its clock depends only on what it does.
//
// A program for Linux can make the system calls listed in docs/riscv.md; any other call returns ENOSYS. It
// has standard input, output and error, and cannot see the host's files.
//
// Floating-point arithmetic rounds to nearest, ties to even; a guest that sets another mode ends with a
// Fault. Code cannot be written to. Signals are not delivered: where Linux would send a signal, for example
// when a program in Go uses a nil pointer, the guest ends with a Fault. This package proves nothing.
//
// Sources: The RISC-V Instruction Set Manual, volume I (20240411); Linux, include/uapi.
package riscv
