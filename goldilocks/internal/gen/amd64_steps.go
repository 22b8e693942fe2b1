package main

import (
	"bytes"
	"fmt"

	"github.com/zkbench/zkbench/internal/arith/step"
)

// stepsAMD64 returns a function that runs steps on registers, for eight rows at a time.
func stepsAMD64() []byte {
	var out bytes.Buffer
	line := func(format string, a ...any) { fmt.Fprintf(&out, "\t"+format+"\n", a...) }
	out.WriteString(header)
	out.WriteString("// func stepsAVX512(registers *[]uint64, steps *step.Step, rows, count int)\nTEXT ·stepsAVX512(SB), NOSPLIT, $0-32\n")
	loadArguments(&out, "registers DI", "steps SI", "rows CX", "count BX")
	registers := prologue(&out, 8)
	fmt.Fprint(&out, "\nstep:\n")
	line("MOVL (SI), AX")
	vectors := []string{"R8", "R9", "R10"} // of the result and of both operands
	for i, r := range vectors {
		line("MOVL %d(SI), %s", 4+4*i, r)
		line("LEAQ (%[1]s)(%[1]s*2), %[1]s\n\tMOVQ (DI)(%[1]s*%[2]d), %[1]s", r, sliceBytes/3)
	}
	line("XORL DX, DX")
	for op := range step.Ops {
		line("CMPL AX, $%d\n\tJEQ op%[1]d", op)
	}
	line("UNDEF")
	for op := range step.Ops {
		fmt.Fprintf(&out, "\nop%d:\n", op)
		b := newBlock(8)
		at := func(i int) string { return "(" + vectors[i] + ")(DX*8)" }
		b.Store(b.operation(op, b.Load(at(1)), b.Load(at(2))), at(0))
		if b.Write(&out, registers) > 0 {
			panic("steps: more values than registers")
		}
		line("ADDQ $8, DX\n\tCMPQ DX, CX\n\tJB op%d\n\tADDQ $16, SI\n\tDECQ BX\n\tJNZ step\n\tVZEROUPPER\n\tRET", op)
	}
	out.WriteString("\n")
	writeWords(&out, words)
	return out.Bytes()
}
