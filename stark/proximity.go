package stark

import "github.com/zkbench/zkbench/stark/internal/field"

// That a word is near to a polynomial of degree below 2^size, to a verifier who can have its values at
// some places from what is opened there, is proved by a test of proximity. Here that is FRI (fri.go);
// any test may be that asks for values of the word and for nothing else of it, as STIR and WHIR do.

// proximityProver is the prover's side.
type proximityProver[E any] interface {
	// commit commits to a word, of which each coset is a vector, and proves its degree up to the queries.
	commit(word []field.Vector[E]) error
	// query shows what the test needs of its own, and returns the places at which the word is to be
	// opened, in rising order, each once.
	query() (places []int, err error)
}

// proximityVerifier is the verifier's side.
type proximityVerifier[X any] interface {
	// receive absorbs what commit has sent.
	receive()
	// query returns the places.
	query() (places []int, err error)
	// check checks the word's values at the places: another proof's are a zkbench.ErrProof.
	check(values []X) error
}
