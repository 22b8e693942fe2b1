// Command plonk is a guest that verifies a Plonk proof. If the proof is valid, the guest's output
// is the proof's public values. Its input is in the format of package frames: the verifying key,
// the proof, and the public values, 32 big-endian bytes each. Use it for measurement only. It
// accepts any key, and its output does not name the key, so the output proves nothing about the
// values.
package main

import (
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/riscv/guest"
	"github.com/zkbench/zkbench/riscv/guests/frames"
)

func main() {
	input := frames.Split(guest.Input())
	guest.Begin("setup")
	key, err := plonkish.ReadVerifyingKey(plonkish.Plonk(), input[0])
	if err != nil {
		panic(err)
	}
	guest.End()
	var public []fr.Element
	for raw := input[2]; len(raw) > 0; raw = raw[fr.Bytes:] {
		var e fr.Element
		if err := e.SetBytesCanonical(raw[:fr.Bytes]); err != nil {
			panic(err)
		}
		public = append(public, e)
	}
	guest.Begin("verify")
	err = key.VerifyInsecure(input[1], public, nil)
	guest.End()
	if err != nil {
		panic(err)
	}
	guest.Commit(input[2])
}
