// Package zkbench builds, load-tests and compares zero-knowledge payment proofs
// on your own machine. This package has only the errors that all other packages
// share. Start with the README, with package token/action for the proofs, or
// with cmd/zkbench for the command line.
package zkbench
