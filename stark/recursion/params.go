package recursion

import "github.com/zkbench/zkbench/stark"

// TreeParams are the parameters of a Tree. Child is for the proofs that the tree starts from, Inner for the
// layers between, and Last for the last proof. No other proof has to verify the last proof, so the last proof
// can use another hash and another extension.
type TreeParams struct {
	Child, Inner, Last stark.Params
	// Long, if set, replaces Child for proofs with at least LongRows rows. At a lower rate, the child's
	// proof takes longer. With more queries, the program is longer, whatever the height of the child is.
	Long stark.Params
}

// LongRows is a number of rows. If a tree starts from proofs whose highest table has at least LongRows rows,
// proving is faster with TreeParams.Long than with TreeParams.Child.
const LongRows = 1 << 10

// Secure100 returns parameters with 100 bits of proved soundness in all layers, up to the Johnson radius,
// over the cubic extension. The parameters of stark.Secure100 rely on unique decoding over the quadratic
// extension. They need nearly twice as many queries, and each query makes the program that verifies a proof
// longer.
func Secure100() TreeParams {
	s := TreeParams{Child: stark.Secure128(stark.Goldilocks), Last: short("secure100-last", 3, 40, 22)}
	s.Child.Name, s.Child.Bits, s.Child.Queries = "secure100-inner", 100, 60
	s.Last.Bits = s.Child.Bits
	s.Inner = s.Child
	return s
}

// Secure128 returns parameters with 128 bits of proved soundness in all layers, up to the Johnson radius,
// over the cubic extension.
func Secure128() TreeParams {
	s := TreeParams{Child: stark.Secure128(stark.Goldilocks), Last: short("secure128-last", 3, 56, 20)}
	s.Last.Bits = s.Child.Bits
	s.Inner = s.Child
	return s
}

// Compare100 returns parameters for comparison only. The 100 bits of all layers rest on a refuted
// conjecture, like those of stark.Compare100. The rates of Child, Inner and Last are lower than that of
// stark.Compare100.
func Compare100() TreeParams {
	s := TreeParams{Child: stark.Compare100(stark.Goldilocks), Last: short("compare100-last", 2, 21, 16)}
	s.Child.Name, s.Child.LogBlowup, s.Child.Queries = "compare100-inner", 3, 28
	s.Child.Stack = 4 // a larger stack makes the program longer
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

// inner returns the configuration of the layers between.
func (s TreeParams) inner() stark.Config {
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: s.Inner}
}

// last returns the configuration of the last layer.
func (s TreeParams) last() stark.Config {
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: s.Last}
}

// Children returns the configuration of the proofs that a tree starts from. The argument is the height of the
// highest table in these proofs.
func (s TreeParams) Children(rows int) stark.Config {
	params := s.Child
	if rows >= LongRows && s.Long.Name != "" {
		params = s.Long
	}
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: params}
}
