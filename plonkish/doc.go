// Package plonkish proves circuits of custom gates and lookups over KZG commitments on BN254:
// Plonk, TurboPlonk and UltraPlonk are values of one type, Arithmetization, and a gate or an arithmetization of one's own
// is as much.
//
// A Builder takes rows of gates with their values, and makes a Circuit. Setup makes its keys
// over a reference string, ProvingKey.Prove a proof in zero knowledge, and VerifyingKey.Verify
// checks it. docs/plonkish.md has the equations.
package plonkish
