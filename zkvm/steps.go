package zkvm

// steps is a list of executed instructions that grows without moving those it has. A slice of a million steps would be
// copied five times.
type steps struct{ pieces [][]step }

func (l *steps) append(s step) {
	last := len(l.pieces) - 1
	if last < 0 || len(l.pieces[last]) == together {
		l.pieces = append(l.pieces, make([]step, 0, together))
		last++
	}
	l.pieces[last] = append(l.pieces[last], s)
}

func (l *steps) len() int {
	if len(l.pieces) == 0 {
		return 0
	}
	last := len(l.pieces) - 1
	return last*together + len(l.pieces[last])
}

func (l *steps) at(i int) *step { return &l.pieces[i/together][i%together] }
