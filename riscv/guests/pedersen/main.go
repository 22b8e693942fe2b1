// Command pedersen is a guest that hashes pairs of elements of BN254's scalar field. The input is
// the elements, 32 big-endian bytes each. The output is the hashes.
package main

import (
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/riscv/guest"
)

func main() {
	input := guest.Input()
	guest.Begin("setup")
	_ = pedersen.Generator(0) // computes all generators
	guest.End()
	var elements []fr.Element
	for ; len(input) > 0; input = input[fr.Bytes:] {
		var e fr.Element
		if err := e.SetBytesCanonical(input[:fr.Bytes]); err != nil {
			panic(err)
		}
		elements = append(elements, e)
	}
	hashes := make([]fr.Element, len(elements)/pedersen.Inputs)
	guest.Begin("hash")
	for i := range hashes {
		hashes[i] = pedersen.Hash(&elements[2*i], &elements[2*i+1])
	}
	guest.End()
	for _, h := range hashes {
		raw := h.Bytes()
		guest.Commit(raw[:])
	}
}
