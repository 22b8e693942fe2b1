package asm

import (
	"bytes"
	"fmt"
)

// WriteRows writes the assembly of two functions to out, for a kernel with 8 or 4 lanes. Their names are columnsOf
// and rowsOf, each followed by the kernel's name. The input of columnsOf is one row of four words for each lane.
// The function transposes these rows into four columns, which have one word for each lane. The function rowsOf is
// the inverse of columnsOf. Both functions have a parameter named stride: the distance in bytes from one row to
// the next.
func WriteRows(out *bytes.Buffer, kernel string, lanes int) {
	for _, function := range []struct {
		name, arguments string
		columns, rows   int
		body            string
	}{
		{"columnsOf", "columns, rows *uint64, stride int", 0, 8, map[int]string{8: columnsOf8, 4: columnsOf4}[lanes]},
		{"rowsOf", "rows, columns *uint64, stride int", 8, 0, map[int]string{8: rowsOf8, 4: rowsOf4}[lanes]},
	} {
		fmt.Fprintf(out, "// func %[1]s%[2]s(%[3]s)\nTEXT ·%[1]s%[2]s(SB), NOSPLIT, $0-24\n", function.name, kernel, function.arguments)
		fmt.Fprintf(out, "\tMOVQ columns+%d(FP), DI\n\tMOVQ rows+%d(FP), SI\n", function.columns, function.rows)
		out.WriteString(rowPointers + function.body + "\tVZEROUPPER\n\tRET\n\n")
	}
}

// Rows 0 to 3 are at (SI), (SI)(R8*1), (SI)(R8*2), (SI)(R9*1), and rows 4 to 7 at the same distances from DX.
const rowPointers = `	MOVQ stride+16(FP), R8
	LEAQ (R8)(R8*2), R9
	LEAQ (SI)(R8*4), DX
`

// A register holds rows 0 and 2, another rows 1 and 3, and so on. Then each step gives the order that the next one
// needs.
const columnsOf8 = `	VMOVDQU (SI), Y0
	VINSERTI64X4 $1, (SI)(R8*2), Z0, Z0
	VMOVDQU (SI)(R8*1), Y1
	VINSERTI64X4 $1, (SI)(R9*1), Z1, Z1
	VMOVDQU (DX), Y2
	VINSERTI64X4 $1, (DX)(R8*2), Z2, Z2
	VMOVDQU (DX)(R8*1), Y3
	VINSERTI64X4 $1, (DX)(R9*1), Z3, Z3
` + transpose8 + `	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	VMOVDQU64 Z2, 128(DI)
	VMOVDQU64 Z3, 192(DI)
`

const rowsOf8 = `	VMOVDQU64 (DI), Z0
	VMOVDQU64 64(DI), Z1
	VMOVDQU64 128(DI), Z2
	VMOVDQU64 192(DI), Z3
` + transpose8 + `	VSHUFI64X2 $0xd8, Z0, Z0, Z0
	VSHUFI64X2 $0xd8, Z1, Z1, Z1
	VSHUFI64X2 $0xd8, Z2, Z2, Z2
	VSHUFI64X2 $0xd8, Z3, Z3, Z3
	VMOVDQU Y0, (SI)
	VMOVDQU Y1, (SI)(R8*1)
	VMOVDQU Y2, (SI)(R8*2)
	VMOVDQU Y3, (SI)(R9*1)
	VEXTRACTI64X4 $1, Z0, (DX)
	VEXTRACTI64X4 $1, Z1, (DX)(R8*1)
	VEXTRACTI64X4 $1, Z2, (DX)(R8*2)
	VEXTRACTI64X4 $1, Z3, (DX)(R9*1)
`

const columnsOf4 = `	VMOVDQU (SI), Y0
	VMOVDQU (SI)(R8*1), Y1
	VMOVDQU (SI)(R8*2), Y2
	VMOVDQU (SI)(R9*1), Y3
` + transpose4 + `	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
`

const rowsOf4 = `	VMOVDQU (DI), Y0
	VMOVDQU 32(DI), Y1
	VMOVDQU 64(DI), Y2
	VMOVDQU 96(DI), Y3
` + transpose4 + `	VMOVDQU Y0, (SI)
	VMOVDQU Y1, (SI)(R8*1)
	VMOVDQU Y2, (SI)(R8*2)
	VMOVDQU Y3, (SI)(R9*1)
`

const transpose4 = `	VPUNPCKLQDQ Y1, Y0, Y4
	VPUNPCKHQDQ Y1, Y0, Y5
	VPUNPCKLQDQ Y3, Y2, Y6
	VPUNPCKHQDQ Y3, Y2, Y7
	VPERM2I128 $0x20, Y6, Y4, Y0
	VPERM2I128 $0x20, Y7, Y5, Y1
	VPERM2I128 $0x31, Y6, Y4, Y2
	VPERM2I128 $0x31, Y7, Y5, Y3
`

const transpose8 = `	VPUNPCKLQDQ Z1, Z0, Z4
	VPUNPCKHQDQ Z1, Z0, Z5
	VPUNPCKLQDQ Z3, Z2, Z6
	VPUNPCKHQDQ Z3, Z2, Z7
	VSHUFI64X2 $0x88, Z6, Z4, Z0
	VSHUFI64X2 $0x88, Z7, Z5, Z1
	VSHUFI64X2 $0xdd, Z6, Z4, Z2
	VSHUFI64X2 $0xdd, Z7, Z5, Z3
`
