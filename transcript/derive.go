package transcript

import (
	"crypto/sha3"
	"encoding/binary"
)

// SeedLen is the length in bytes of a prover's random seed. The prover draws one seed for each
// action, for example for a transfer.
const SeedLen = 32

// XOF returns SHAKE256 over domain and parts, each of them preceded by its length as uint32,
// little-endian. Provers use XOF for everything that they derive from their seeds. Because of the
// lengths, different lists of parts give independent streams.
func XOF(domain string, parts ...[]byte) *sha3.SHAKE {
	x := sha3.NewSHAKE256()
	var n [4]byte
	write := func(p []byte) {
		binary.LittleEndian.PutUint32(n[:], uint32(len(p)))
		_, _ = x.Write(n[:]) // a hash never fails to write
		_, _ = x.Write(p)
	}
	write([]byte(domain))
	for _, p := range parts {
		write(p)
	}
	return x
}

// Nonces identifies the nonce stream of one sub-proof. The stream also depends on the seed, on the
// witness and on the state of the sub-proof's transcript. So even a broken random source does not
// repeat a nonce for another statement. Two sub-proofs of the same action must differ in Protocol,
// Label or Index.
type Nonces struct {
	Protocol string
	Label    string
	Index    uint32
	Seed     [SeedLen]byte
}

// Stream returns the nonce stream for an encoded witness and for the current state of t.
func (n *Nonces) Stream(witness []byte, t *Transcript) *sha3.SHAKE {
	index := binary.LittleEndian.AppendUint32(nil, n.Index)
	return XOF("zkbench/v1/nonce", []byte(n.Protocol), []byte(n.Label), index, n.Seed[:], witness, t.state[:])
}
