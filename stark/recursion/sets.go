package recursion

import "github.com/zkbench/zkbench/stark"

// Sets are those of a tree of proofs: of the children that it begins with, of proofs between, and of the last one,
// which nothing has to verify but a verifier, so that it can have another hash and extension.
type Sets struct{ Child, Inner, Last stark.Set }

// Secure100 has 100 proved bits in all layers: of the last one up to the Johnson radius, over the cubic
// extension, and by unique decoding of others. Children are at rate 1/4, where they and what verifies them take
// the least time together.
func Secure100() (s Sets, err error) {
	if s.Child, err = stark.Secure100(stark.Goldilocks, 2); err != nil {
		return s, err
	}
	if s.Inner, err = stark.Secure100(stark.Goldilocks, 3); err != nil {
		return s, err
	}
	s.Last = short("secure100-last", 3, 41, 20)
	s.Last.Bits = s.Child.Bits
	return s, nil
}

// Secure128 has 128 proved bits in all layers, up to the Johnson radius, over the cubic extension.
func Secure128() (s Sets) {
	s.Child = stark.Secure128(stark.Goldilocks)
	s.Inner = s.Child
	s.Last = short("secure128-last", 3, 56, 20)
	s.Last.Bits = s.Child.Bits
	return s
}

// Compare100 is for comparison alone: all layers have what stark.Compare100 has, 100 bits that were once believed,
// at other rates too.
func Compare100() (s Sets) {
	s.Child = stark.Compare100(stark.Goldilocks)
	s.Child.Stack = 4 // one that is verified in a program is no taller
	s.Inner = s.Child
	s.Inner.Name, s.Inner.LogBlowup, s.Inner.Queries = "compare100-inner", 3, 28
	s.Last = short("compare100-last", 2, 21, 16)
	return s
}

// short is a set at rate 1/16 whose proofs are short.
func short(name string, degree, queries, grinding int) stark.Set {
	return stark.Set{
		Name: name, Degree: degree, LogBlowup: 4, Queries: queries, Grinding: grinding,
		Stack: 4, LogFold: 3, LogFinal: 7, LogCap: 5,
	}
}

// inner and last are configurations of them.
func (s Sets) inner() stark.Config {
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: s.Inner}
}

func (s Sets) last() stark.Config {
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Set: s.Last}
}

// Children is the configuration of a tree's first children.
func (s Sets) Children() stark.Config {
	return stark.Config{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: s.Child}
}
