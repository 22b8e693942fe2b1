package stark

import "github.com/zkbench/zkbench/stark/internal/field"

// A test of proximity proves that a word is near a polynomial of degree below 2^size. The verifier computes
// the word's values at some positions from what is opened there. Here the test is FRI (fri.go). Any test
// works that needs only values of the word, such as STIR and WHIR.

// proximityProver is the prover's side.
type proximityProver[E any] interface {
	// commit commits to a word, with one vector for each coset, and proves its degree up to the queries.
	commit(word []field.Vector[E]) error
	// query opens what the test itself needs. It returns the distinct positions at which the word must be
	// opened, in rising order.
	query() (places []int, err error)
}

// proximityVerifier is the verifier's side.
type proximityVerifier[X any] interface {
	// receive absorbs what commit has sent.
	receive()
	// query returns the positions.
	query() (places []int, err error)
	// check checks the word's values at the positions. It returns zkbench.ErrProof if they do not fit the
	// proof.
	check(values []X) error
}
