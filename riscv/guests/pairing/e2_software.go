//go:build bigint || !precompile

package main

import (
	"unsafe"

	"github.com/zkbench/zkbench/riscv/guests/pairing/internal/limbs"
)

// pair returns the element in the form that package limbs takes.
func (z *e2) pair() *[2][4]uint64 { return (*[2][4]uint64)(unsafe.Pointer(z)) }

func (z *e2) add(x, y *e2) { limbs.Add2(z.pair(), x.pair(), y.pair()) }

func (z *e2) sub(x, y *e2) { limbs.Sub2(z.pair(), x.pair(), y.pair()) }

// mulXi sets z to x·ξ, where ξ = 9 + u.
func (z *e2) mulXi(x *e2) { limbs.MulXi(z.pair(), x.pair()) }
