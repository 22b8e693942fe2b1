package poseidon

import (
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Between partial rounds only the first element meets an S-box. With the linear layer
//
//	m  v
//	w  N
//
// the other elements in round r are N^r z + k, where k is known. Let s be the output of the S-box. Then z
// grows by N^-(r+1) w s, and the first element becomes m s + v N^r z plus a constant. So a round takes 23
// products, not 144, and the only dense matrix is N^22 at the end.

// rest is the number of elements except the first.
const rest = poseidon.Width - 1

type (
	element = goldilocks.Element
	vector  [rest]element
	matrix  [rest]vector // rows
)

// sparse holds the partial rounds in this form.
var sparse = newSparse()

type sparseRounds struct {
	corner  element                         // m
	before  [poseidon.PartialRounds]element // added to the first element before its S-box
	rows    [poseidon.PartialRounds]vector  // v N^r
	columns [poseidon.PartialRounds]vector  // N^-(r+1) w
	last    matrix                          // N^22
	first   element                         // the constants after the last round: for the first element
	others  vector                          // and for the others
}

func newSparse() (s sparseRounds) {
	constants, mix := poseidon.RoundConstants(), poseidon.Mix()
	var v, w vector
	var n matrix
	s.corner = element(mix[0][0])
	for i := range rest {
		v[i], w[i] = element(mix[0][i+1]), element(mix[i+1][0])
		for j := range rest {
			n[i][j] = element(mix[i+1][j+1])
		}
	}
	inverse := n.inverse()
	row, column := v, inverse.times(w)
	power := identity()
	var k vector
	for r := range poseidon.PartialRounds {
		c := constants[poseidon.FullRounds/2+r]
		s.before[r] = s.first.Add(c[0])
		for i := range k {
			k[i] = k[i].Add(c[i+1])
		}
		s.first = v.dot(k)
		k = n.times(k)
		s.rows[r], s.columns[r] = row, column
		row, column = n.transposed().times(row), inverse.times(column)
		power = power.product(n)
	}
	s.last, s.others = power, k
	return s
}

func identity() (m matrix) {
	for i := range m {
		m[i][i] = 1
	}
	return m
}

func (v vector) dot(w vector) (sum element) {
	for i, e := range v {
		sum = sum.Add(e.Mul(w[i]))
	}
	return sum
}

func (m matrix) times(v vector) (w vector) {
	for i, row := range m {
		w[i] = row.dot(v)
	}
	return w
}

func (m matrix) transposed() (t matrix) {
	for i, row := range m {
		for j, e := range row {
			t[j][i] = e
		}
	}
	return t
}

func (m matrix) product(n matrix) (p matrix) {
	columns := n.transposed()
	for i, row := range m {
		p[i] = columns.times(row)
	}
	return p
}

// inverse returns the inverse of a matrix whose leading minors are all nonzero, by elimination without
// exchanges.
func (m matrix) inverse() matrix {
	inverse := identity()
	for i := range m {
		scale := m[i][i].Inverse()
		for j := range rest {
			m[i][j], inverse[i][j] = m[i][j].Mul(scale), inverse[i][j].Mul(scale)
		}
		for k := range m {
			if factor := m[k][i]; k != i {
				for j := range rest {
					m[k][j] = m[k][j].Sub(factor.Mul(m[i][j]))
					inverse[k][j] = inverse[k][j].Sub(factor.Mul(inverse[i][j]))
				}
			}
		}
	}
	return inverse
}
