//go:build bigint && precompile

package main

import "github.com/zkbench/zkbench/riscv/guests/pairing/internal/mulmod"

type fp = mulmod.Element
