package recursion

import "github.com/zkbench/zkbench/stark"

// TreeParams are the parameters of a tree of proofs: of the children that it begins with, of proofs between, and of the last one,
// which nothing has to verify but a verifier, so that it can have another hash and extension.
type TreeParams struct {
	Child, Inner, Last stark.Params
	// Long, if there is one, is that of children of LongRows rows and more. Their proofs take the longer the lower the rate,
	// and a program the more queries it has, however long the child.
	Long stark.Params
}

// LongRows is how many rows a child's highest table has for which TreeParams.Long are the faster parameters.
const LongRows = 1 << 10

// Secure100 has 100 proved bits in all layers, up to the Johnson radius, over the cubic extension. stark.Secure100,
// by unique decoding over the quadratic one, has nearly twice as many queries, of which a program is made.
func Secure100() TreeParams {
	s := TreeParams{Child: stark.Secure128(stark.Goldilocks), Last: short("secure100-last", 3, 40, 22)}
	s.Child.Name, s.Child.Bits, s.Child.Queries = "secure100-inner", 100, 60
	s.Last.Bits = s.Child.Bits
	s.Inner = s.Child
	return s
}

// Secure128 has 128 in the same way.
func Secure128() TreeParams {
	s := TreeParams{Child: stark.Secure128(stark.Goldilocks), Last: short("secure128-last", 3, 56, 20)}
	s.Last.Bits = s.Child.Bits
	s.Inner = s.Child
	return s
}

// Compare100 is for comparison alone: all layers have what stark.Compare100 has, 100 bits that were once believed,
// at lower rates.
func Compare100() TreeParams {
	s := TreeParams{Child: stark.Compare100(stark.Goldilocks), Last: short("compare100-last", 2, 21, 16)}
	s.Child.Name, s.Child.LogBlowup, s.Child.Queries = "compare100-inner", 3, 28
	s.Child.Stack = 4 // one that is verified in a program is no taller
	s.Inner = s.Child
	s.Long = stark.Compare100(stark.Goldilocks)
	s.Long.Stack = s.Child.Stack
	return s
}

// short returns parameters at rate 1/16 whose proofs are short.
func short(name string, degree, queries, grinding int) stark.Params {
	return stark.Params{
		Name: name, Bits: stark.Unproven, Degree: degree, LogBlowup: 4, Queries: queries, Grinding: grinding,
		Stack: 4, LogFold: 3, LogFinal: 7, LogCap: 5,
	}
}

// inner and last are configurations of them.
func (s TreeParams) inner() stark.Config {
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: s.Inner}
}

func (s TreeParams) last() stark.Config {
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: s.Last}
}

// Children is the configuration of a tree's first children, whose highest table has so many rows.
func (s TreeParams) Children(rows int) stark.Config {
	params := s.Child
	if rows >= LongRows && s.Long.Name != "" {
		params = s.Long
	}
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: params}
}
