// Package bulletproof proves that committed values lie in [0, 2^n): the
// Bulletproofs range proof, single and aggregated, of Bünz, Bootle, Boneh,
// Poelstra, Wuille and Maxwell, "Bulletproofs: Short Proofs for Confidential
// Transactions and More", IACR ePrint 2017/1066, sections 3 and 4.1 to 4.4.
//
// Statement: for V_1..V_m the prover knows v_j in [0, 2^n) and γ_j with
// V_j = v_j·g + γ_j·h. Any n from 1 to 64 and any m up to the configured bound,
// powers of two or not: vectors are padded with bits of weight zero. Names
// follow the paper; docs/rangeproofs.md derives the equations, argues the
// padding, and counts the cost in group operations.
//
// The prover folds no generators: it keeps one coefficient per block of
// generators and computes each round's L and R as sums over the fixed-base
// table. The recursion stops at a configured length and sends both vectors. The
// verifier adds both verification equations, weighted, to an accumulator, so
// one proof or a batch of them is one multi-scalar multiplication.
//
// What it does not promise: unless the basis is a Basis.ConstantTime, the prover
// looks its tables up by digits of secret scalars (see package group), so timing
// and memory accesses depend on them. The arithmetic of scalars is that of the
// group's field. Prove does not check that the witness opens V; if it does not,
// the proof is rejected by the verifier.
package bulletproof
