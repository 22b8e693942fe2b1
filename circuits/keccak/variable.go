package keccak

import (
	"fmt"

	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/hash/keccak"
)

// Variable proves knowledge of a message with a digest, of any length that its blocks
// hold; message and length are secret. The padding is done inside the circuit.
type Variable struct {
	Message []frontend.Variable  // bits, as those of Fixed; zero from the length on
	Length  []frontend.Variable  // one for each length in bytes: one of them is 1
	Digest  [2]frontend.Variable `gnark:",public"`
	padding byte
}

// NewVariable returns the circuit of so many blocks, for messages of up to
// keccak.Rate·blocks - 1 bytes. A padding byte of 0 or above 0x7f and fewer than one block
// are a zkbench.ErrParams.
func NewVariable(blocks int, padding byte) (*Variable, error) {
	if blocks < 1 {
		return nil, fmt.Errorf("%w: %d blocks, accepted are 1 and more", zkbench.ErrParams, blocks)
	}
	if err := keccak.CheckPadding(padding); err != nil {
		return nil, err
	}
	return newVariable(keccak.Rate*blocks, padding), nil
}

// newVariable has a place for each of so many lengths: 0 to lengths - 1 bytes.
func newVariable(lengths int, padding byte) *Variable {
	return &Variable{Message: make([]frontend.Variable, 8*(lengths-1)), Length: make([]frontend.Variable, lengths), padding: padding}
}

// Assign implements Circuit. A message above the capacity is a zkbench.ErrLimit.
func (c *Variable) Assign(message []byte, digest [keccak.Digest]byte) (frontend.Circuit, error) {
	if most := len(c.Length) - 1; len(message) > most {
		return nil, &zkbench.LimitError{What: "bytes of message", Estimate: int64(len(message)), Max: int64(most)}
	}
	a := c.AssignPublic(digest).(*Variable)
	assignBits(a.Message, message)
	a.Length = zeros(len(a.Length))
	a.Length[len(message)] = 1
	return a, nil
}

// AssignPublic implements Circuit.
func (c *Variable) AssignPublic(digest [keccak.Digest]byte) frontend.Circuit {
	a := newVariable(len(c.Length), c.padding)
	a.Digest = Split(digest)
	return a
}

// Define implements frontend.Circuit.
func (c *Variable) Define(api frontend.API) error {
	if err := keccak.CheckPadding(c.padding); err != nil {
		return err
	}
	if len(c.Length) == 0 || len(c.Length)%keccak.Rate != 0 || len(c.Message) != 8*(len(c.Length)-1) {
		return fmt.Errorf("%w: %d bits of message, %d of length", zkbench.ErrParams, len(c.Message), len(c.Length))
	}
	var sum frontend.Variable = 0
	for _, e := range c.Length {
		api.AssertIsBoolean(e)
		sum = api.Add(sum, e)
	}
	api.AssertIsEqual(sum, 1)

	s := newState()
	output := zeros(8 * keccak.Digest)
	var ended frontend.Variable = 0 // the length is below the byte, or is it
	for block := 0; block < len(c.Length); block += keccak.Rate {
		bits := make([]frontend.Variable, 8*keccak.Rate)
		before := ended
		for i := range keccak.Rate {
			at := c.Length[block+i] // the padding byte stands here
			ended = api.Add(ended, at)
			for k := range 8 {
				var bit frontend.Variable = 0
				if m := 8*(block+i) + k; m < len(c.Message) {
					bit = c.Message[m]
					api.AssertIsBoolean(bit)
					api.AssertIsEqual(api.Mul(bit, ended), 0)
				}
				if c.padding>>k&1 == 1 {
					bit = api.Add(bit, at) // one of them is zero
				}
				bits[8*i+k] = bit
			}
		}
		last := api.Sub(ended, before) // the message ends in this block
		// The padding byte has no bit 7, and the message has none there in its last block.
		bits[8*keccak.Rate-1] = api.Add(bits[8*keccak.Rate-1], last)
		s.absorb(api, bits)
		s.permute(api)
		for i, b := range s.digest() {
			output[i] = api.Add(output[i], api.Mul(b, last))
		}
	}
	assertDigest(api, output, c.Digest)
	return nil
}
