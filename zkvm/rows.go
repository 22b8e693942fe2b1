package zkvm

// rows is the rows of a table that a run adds one by one. It grows without moving those it has: a slice of a million rows would be
// copied five times.
type rows[T any] struct {
	n      int
	pieces [][]T // none if rows are counted and not kept
}

func (r *rows[T]) add(row T, counted bool) {
	if !counted {
		if r.n%together == 0 {
			r.pieces = append(r.pieces, make([]T, 0, together))
		}
		last := &r.pieces[r.n/together]
		*last = append(*last, row)
	}
	r.n++
}

func (r *rows[T]) at(i int) *T { return &r.pieces[i/together][i%together] }
