// Package plonkish proves circuits with custom gates and lookups, using KZG commitments on BN254. Plonk,
// TurboPlonk and UltraPlonk return three ready arithmetizations. You can also define gates and
// arithmetizations of your own.
//
// A Builder takes rows of gates with their values and makes a Circuit. Setup makes the circuit's keys over a
// reference string. ProvingKey.Prove makes a zero-knowledge proof, and VerifyingKey.Verify checks it.
// docs/circuits.md has the equations.
package plonkish
