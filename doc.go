// Package zkbench builds, load-tests and compares zero-knowledge payment
// proofs on the reader's own machine. This package holds what all others
// share: the errors. Start with the README, token/transfer for the proofs and
// cmd/zkbench for the command.
package zkbench
