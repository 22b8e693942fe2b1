package zkvm

import "math/bits"

// domains are the values that columns can have by one constraint or one look-up.
type domains struct {
	columns uint64 // that have a domain
	values  [64]values
	count   [64]int
}

// limit takes all values but the given ones out of a column's domain.
func (d *domains) limit(column int, v *values) {
	if d.columns>>column&1 == 0 {
		d.columns |= 1 << column
		d.values[column] = *v
	} else {
		d.values[column].and(v)
	}
	d.count[column] = 0
	for _, word := range d.values[column] {
		d.count[column] += bits.OnesCount64(word)
	}
}

// least returns the column that has the fewest values, of those given that have a domain, or -1.
func (d *domains) least(columns uint64) (best int) {
	best = -1
	for rest := columns & d.columns; rest != 0; rest &= rest - 1 {
		if c := bits.TrailingZeros64(rest); best < 0 || d.count[c] < d.count[best] {
			best = c
		}
	}
	return best
}

// domains sets d to the values that columns can have in a row by its constraints and asks.
func (s *search) domains(d *domains, r *row) {
	d.columns = 0
	for i := range r.zero {
		if column, coefficients, ok := r.zero[i].univariate(); ok {
			d.limit(column, s.roots(coefficients))
		}
	}
	for _, all := range [][]*sent{r.lookups, r.links} {
		for _, m := range all {
			if !m.asks || m.columns == 0 || !m.isSent() {
				continue
			}
			for j := range m.tuple {
				column, c, ok := m.tuple[j].univariate()
				if !ok || c[2] != 0 || c[3] != 0 {
					continue
				}
				var v values
				s.matches(m, func(tuple []uint64) { v.add((tuple[j] + s.prime - c[0]) % s.prime * s.inverse[c[1]] % s.prime) })
				d.limit(column, &v)
			}
		}
	}
}

// mostCombinations bounds the work of support.
const mostCombinations = 512

// support takes values out of the domains of a polynomial's columns that make it 0 together with none of the others' values.
// It does nothing if there are too many combinations.
func (d *domains) support(r ring, p *polynomial) {
	if p.columns&^d.columns != 0 {
		return
	}
	var columns []int
	combinations := 1
	for rest := p.columns; rest != 0; rest &= rest - 1 {
		column := bits.TrailingZeros64(rest)
		columns = append(columns, column)
		if combinations *= d.count[column]; combinations > mostCombinations {
			return
		}
	}
	if combinations == 0 {
		return
	}
	var candidates [64][]uint64
	for i, column := range columns {
		candidates[i] = d.values[column].all()
	}
	supported := make([]values, len(columns))
	var at [64]int
	var value [65]uint64 // of each column, plus 1
	for range combinations {
		for i, column := range columns {
			value[column+1] = candidates[i][at[i]]
		}
		var total uint64
		for _, t := range p.terms {
			product := t.coefficient
			for key := t.key; key != 0; key >>= 8 {
				product = product * value[key&255] % r.prime
			}
			total += product
		}
		if total%r.prime == 0 {
			for i, column := range columns {
				supported[i].add(value[column+1])
			}
		}
		for i := range columns {
			if at[i]++; at[i] < len(candidates[i]) {
				break
			}
			at[i] = 0
		}
	}
	for i, column := range columns {
		d.limit(column, &supported[i])
	}
}
