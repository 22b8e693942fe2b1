// Package bulletproof proves that committed values are in [0, 2^n). It implements the Bulletproofs
// range proof, single and aggregated, of Bünz, Bootle, Boneh, Poelstra, Wuille and Maxwell,
// "Bulletproofs: Short Proofs for Confidential Transactions and More", IACR ePrint 2017/1066,
// sections 3 and 4.1 to 4.4.
//
// Statement: for V_1..V_m the prover knows v_j in [0, 2^n) and γ_j with V_j = v_j·g + γ_j·h. Here
// n is from 1 to 64, and m is at most the configured bound. Neither needs to be a power of two:
// vectors are padded with bits of weight zero. Names follow the paper. docs/rangeproofs.md
// derives the equations, argues that the padding is sound, and counts the cost in group
// operations.
//
// The prover folds no generators. Instead, it keeps one coefficient per block of generators and
// computes each round's L and R as sums over the fixed-base table. The prover stops the recursion
// when the two vectors have a configured length, and sends them. The verifier multiplies both
// verification equations by weights and adds them to an accumulator. So one multi-scalar
// multiplication verifies one proof or a whole batch.
//
// Unless the basis was made with Basis.ConstantTime, the prover uses digits of secret scalars as
// table indices (see package group), so its time and memory accesses depend on these scalars.
// Arithmetic on scalars is done by the group's scalar field. Prove does not check that the witness
// opens V. If the witness does not open V, the verifier rejects the proof.
package bulletproof
