package zkvm

import (
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench/stark/air"
)

// term is a product of columns with a coefficient. Byte i of key is 1 plus a column, or 0; the bytes fall.
type term struct {
	key         uint32
	coefficient uint64
}

// polynomial is a sum of terms of different keys, of degree 3 at most.
type polynomial struct {
	terms   []term
	columns uint64 // bit i says whether it reads column i
}

// ring is the algebra of polynomials in a row's columns modulo a prime.
type ring struct {
	prime   uint64
	publics []uint64 // the statement's
}

func (r ring) of(c uint64) polynomial {
	if c == 0 {
		return polynomial{}
	}
	return polynomial{terms: []term{{0, c}}}
}

// plus adds a term to a polynomial under construction.
func (r ring) plus(terms []term, t term) []term {
	for i := range terms {
		if terms[i].key == t.key {
			terms[i].coefficient = (terms[i].coefficient + t.coefficient) % r.prime
			return terms
		}
	}
	return append(terms, t)
}

// polynomial returns the polynomial of terms.
func (r ring) polynomial(terms []term) (p polynomial) {
	p.terms = slices.DeleteFunc(terms, func(t term) bool { return t.coefficient == 0 })
	for _, t := range p.terms {
		for key := t.key; key != 0; key >>= 8 {
			p.columns |= 1 << (key&255 - 1)
		}
	}
	return p
}

func (r ring) Constant(c air.Int) polynomial {
	n := c.Abs % r.prime
	if c.Negative {
		n = (r.prime - n) % r.prime
	}
	return r.of(n)
}
func (r ring) Here(c int) polynomial   { return r.polynomial([]term{{uint32(c) + 1, 1}}) }
func (r ring) Next(int) polynomial     { panic("a row that is searched reads the next one") }
func (r ring) Fixed(int) polynomial    { panic("a row that is searched reads a fixed column") }
func (r ring) Public(i int) polynomial { return r.of(r.publics[i] % r.prime) }

func (r ring) Add(x, y polynomial) polynomial {
	sum := slices.Clone(x.terms)
	for _, t := range y.terms {
		sum = r.plus(sum, t)
	}
	return r.polynomial(sum)
}

func (r ring) Sub(x, y polynomial) polynomial { return r.Add(x, r.Mul(y, r.of(r.prime-1))) }

func (r ring) Mul(x, y polynomial) polynomial {
	var product []term
	for _, t := range x.terms {
		for _, u := range y.terms {
			key := t.key
			for more := u.key; more != 0; more >>= 8 {
				key = withColumn(key, more&255)
			}
			product = r.plus(product, term{key, t.coefficient * u.coefficient % r.prime})
		}
	}
	return r.polynomial(product)
}

// withColumn multiplies a key by a column.
func withColumn(key, column uint32) uint32 {
	if key>>16 != 0 {
		panic("a product of four columns")
	}
	all := []uint32{key & 255, key >> 8 & 255, column}
	slices.Sort(all)
	return all[2] | all[1]<<8 | all[0]<<16
}

// substitute returns a polynomial with a column's value in its place.
func (r ring) substitute(p polynomial, column int, v uint64) polynomial {
	if p.columns>>column&1 == 0 {
		return p
	}
	result := make([]term, 0, len(p.terms))
	for _, t := range p.terms {
		var key uint32
		for i, rest := 0, t.key; rest != 0; rest >>= 8 {
			if rest&255 == uint32(column)+1 {
				t.coefficient = t.coefficient * v % r.prime
			} else {
				key |= rest & 255 << i
				i += 8
			}
		}
		result = r.plus(result, term{key, t.coefficient})
	}
	return r.polynomial(result)
}

// constant returns the value of a polynomial without columns.
func (p *polynomial) constant() (v uint64, ok bool) {
	if p.columns != 0 {
		return 0, false
	}
	if len(p.terms) == 0 {
		return 0, true
	}
	return p.terms[0].coefficient, true
}

// univariate returns the coefficients of a polynomial that reads one column.
func (p *polynomial) univariate() (column int, coefficients [4]uint64, ok bool) {
	if p.columns == 0 || p.columns&(p.columns-1) != 0 {
		return 0, coefficients, false
	}
	for _, t := range p.terms {
		coefficients[(bits.Len32(t.key)+7)/8] = t.coefficient
	}
	return bits.TrailingZeros64(p.columns), coefficients, true
}

// values is a set of elements of the field, one bit each.
type values [largestPrime/64 + 1]uint64

const largestPrime = 1009

func (v *values) add(x uint64) { v[x/64] |= 1 << (x % 64) }

func (v *values) and(other *values) {
	for i := range v {
		v[i] &= other[i]
	}
}

// all returns the set's elements.
func (v *values) all() (all []uint64) {
	for i, word := range v {
		for ; word != 0; word &= word - 1 {
			all = append(all, uint64(64*i+bits.TrailingZeros64(word)))
		}
	}
	return all
}

// field has what was computed in the field before.
type field struct {
	ring
	inverse []uint64
	solved  map[[4]uint64]*values // the roots of polynomials, by their coefficients
}

func newField(prime uint64, publics []uint64) *field {
	s := &field{ring: ring{prime, publics}, inverse: make([]uint64, prime), solved: make(map[[4]uint64]*values)}
	for v := range prime {
		for u := range prime {
			if u*v%prime == 1 {
				s.inverse[v] = u
			}
		}
	}
	return s
}

// roots returns the roots of a polynomial of one column.
func (s *field) roots(c [4]uint64) *values {
	v, ok := s.solved[c]
	if !ok {
		v = new(values)
		for x := range s.prime {
			if (((c[3]*x+c[2])%s.prime*x+c[1])%s.prime*x+c[0])%s.prime == 0 {
				v.add(x)
			}
		}
		s.solved[c] = v
	}
	return v
}
