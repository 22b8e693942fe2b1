//go:build !bigint && precompile

package main

import (
	"unsafe"

	"github.com/zkbench/zkbench/riscv/guest"
)

// words returns the element in the form that calls take.
func (z *e2) words() *[8]uint64 { return (*[8]uint64)(unsafe.Pointer(z)) }

func (z *e2) add(x, y *e2) { guest.Fp2Add(z.words(), x.words(), y.words()) }

func (z *e2) sub(x, y *e2) { guest.Fp2Sub(z.words(), x.words(), y.words()) }

func (z *e2) mul(x, y *e2) { guest.Fp2Mul(z.words(), x.words(), y.words()) }

func (z *e2) square(x *e2) { z.mul(x, x) }

// xi is ξ = 9 + u, the element whose cube root extends Fp2.
var xi = e2{constant(9), one}

func (z *e2) mulXi(x *e2) { z.mul(x, &xi) }
