package keccak

import (
	"fmt"

	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/hash/keccak"
)

// Variable proves knowledge of a message with a given digest. The message can have any length that fits in
// the circuit's blocks. Both the message and its length are secret. The circuit does the padding.
type Variable struct {
	Message []frontend.Variable  // bits, as in Fixed; the bits after the message's end are 0
	Length  []frontend.Variable  // one for each length in bytes; the one of the actual length is 1, the others 0
	Digest  [2]frontend.Variable `gnark:",public"`
	padding byte
}

// NewVariable returns the circuit with the given number of blocks. It is for messages of up to
// keccak.Rate·blocks - 1 bytes. It returns zkbench.ErrParams if the padding byte is 0 or above 0x7f, or if
// blocks is less than 1.
func NewVariable(blocks int, padding byte) (*Variable, error) {
	if blocks < 1 {
		return nil, fmt.Errorf("%w: %d blocks, accepted are 1 and more", zkbench.ErrParams, blocks)
	}
	if err := keccak.CheckPadding(padding); err != nil {
		return nil, err
	}
	return newVariable(keccak.Rate*blocks, padding), nil
}

// newVariable returns the circuit for lengths of 0 to lengths - 1 bytes.
func newVariable(lengths int, padding byte) *Variable {
	return &Variable{Message: make([]frontend.Variable, 8*(lengths-1)), Length: make([]frontend.Variable, lengths), padding: padding}
}

// Assign implements Circuit. It returns a *zkbench.LimitError if the message exceeds the capacity.
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
			at := c.Length[block+i] // 1 if the padding byte is here
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
