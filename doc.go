// Package zkbench builds, load-tests and compares zero-knowledge payment proofs on your own
// machine. This package holds the errors that all other packages share. Start with the README, with
// token/transfer for the proofs, or with cmd/zkbench for the command.
package zkbench
