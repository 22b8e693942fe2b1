package riscv

// Rounding modes.
const (
	nearestEven = 0
	dynamic     = 7 // the mode in register frm, here always nearestEven
)

// float decodes the instructions of the extensions F and D.
func (a ISA) float(w uint32, in *instr, immI, immS int64) {
	f3, rd := field(w, 12, 3), uint8(field(w, 7, 5))
	switch opcode := field(w, 0, 7); opcode {
	case 0b0000111:
		in.op, in.imm, in.rd = [...]op{0, 0, opFlw, opFld, 0, 0, 0, 0}[f3], immI, rd
	case 0b0100111:
		in.op, in.imm = [...]op{0, 0, opFsw, opFsd, 0, 0, 0, 0}[f3], immS
	case 0b1000011, 0b1000111, 0b1001011, 0b1001111:
		base := [...]op{opFmaddS, opFmaddD}
		if format := field(w, 25, 2); format < 2 {
			in.op, in.rd, in.rs3 = rounded(base[format]+op(field(opcode, 2, 2)), f3), rd, uint8(field(w, 27, 5))
		}
	case 0b1010011:
		if format := field(w, 25, 2); format < 2 {
			floatOp(in, field(w, 27, 5), int(format), f3, rd)
		}
	}
}

// rounded returns an operation whose result is rounded. It must use the only supported mode.
func rounded(o op, mode uint32) op {
	switch mode {
	case nearestEven, dynamic:
		return o
	case 5, 6:
		return opIllegal
	}
	return opUnsupported
}

// exact returns an operation whose result needs no rounding, or that supports each mode.
func exact(o op, mode uint32) op {
	if mode == 5 || mode == 6 {
		return opIllegal
	}
	return o
}

// floatOp decodes an operation of the opcode OP-FP. The format is 0 for single, 1 for double precision.
func floatOp(in *instr, f5 uint32, format int, mode uint32, rd uint8) {
	pick := func(single, double op) op { return [...]op{single, double}[format] }
	three := func(ops [3]op) op {
		if mode < 3 {
			return ops[mode]
		}
		return opIllegal
	}
	toFloat := true // the result is in a floating-point register
	switch f5 {
	case 0b00000:
		in.op = rounded(pick(opFaddS, opFaddD), mode)
	case 0b00001:
		in.op = rounded(pick(opFsubS, opFsubD), mode)
	case 0b00010:
		in.op = rounded(pick(opFmulS, opFmulD), mode)
	case 0b00011:
		in.op = rounded(pick(opFdivS, opFdivD), mode)
	case 0b01011:
		if in.rs2 == 0 {
			in.op = rounded(pick(opFsqrtS, opFsqrtD), mode)
		}
	case 0b00100:
		first := pick(opFsgnjS, opFsgnjD)
		in.op = three([3]op{first, first + 1, first + 2})
	case 0b00101:
		first := pick(opFminS, opFminD)
		in.op = three([3]op{first, first + 1, opIllegal})
	case 0b10100:
		toFloat = false
		in.op = three([3]op{pick(opFleS, opFleD), pick(opFltS, opFltD), pick(opFeqS, opFeqD)})
	case 0b11100:
		toFloat = false
		if in.rs2 == 0 && mode == 0 {
			in.op = pick(opFmvXW, opFmvXD)
		} else if in.rs2 == 0 && mode == 1 {
			in.op = pick(opFclassS, opFclassD)
		}
	case 0b11110:
		if in.rs2 == 0 && mode == 0 {
			in.op = pick(opFmvWX, opFmvDX)
		}
	case 0b11000: // to integers, by any mode
		toFloat = false
		if in.rs2 < 4 {
			in.op, in.rs3 = exact(pick(opFcvtWS, opFcvtWD)+op(in.rs2), mode), uint8(mode%dynamic)
		}
	case 0b11010: // from integers, by any mode
		if in.rs2 < 4 {
			in.op, in.rs3 = exact(pick(opFcvtSW, opFcvtDW)+op(in.rs2), mode), uint8(mode%dynamic)
		}
	case 0b01000: // between formats
		if format == 0 && in.rs2 == 1 {
			in.op = rounded(opFcvtSD, mode)
		} else if format == 1 && in.rs2 == 0 {
			in.op = exact(opFcvtDS, mode)
		}
	}
	if toFloat {
		in.rd = rd
	}
}
