// Package keccak has gnark circuits for Keccak-256. Fixed and Variable work bit by bit; Std uses gnark's own
// gadget, for comparison. NewFixed and NewVariable take the padding byte as a parameter; package hash/keccak
// has constants for its values.
package keccak

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/hash/sha3"
	"github.com/consensys/gnark/std/math/uints"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/hash/keccak"
)

// Circuit is the interface of this package's circuits: Fixed, Variable and Std. Other packages cannot
// implement it.
type Circuit interface {
	frontend.Circuit
	isCircuit()
	// Assign returns the assignment for a message and its digest. The assignment has the same type as the
	// circuit. Assign returns zkbench.ErrParams if the circuit does not take the message, and
	// zkbench.ErrLimit if the message is too long.
	Assign(message []byte, digest [keccak.Digest]byte) (frontend.Circuit, error)
	// AssignPublic returns the assignment of a digest alone. A verifier makes a public witness from it, with
	// frontend.NewWitness and the option frontend.PublicOnly.
	AssignPublic(digest [keccak.Digest]byte) frontend.Circuit
}

func (*Fixed) isCircuit()    {}
func (*Variable) isCircuit() {}
func (*Std) isCircuit()      {}

// checkLength returns zkbench.ErrParams if no circuit takes messages of n bytes.
func checkLength(n int) error {
	if n < 0 {
		return fmt.Errorf("%w: message of %d bytes, accepted are 0 and more", zkbench.ErrParams, n)
	}
	return nil
}

// Fixed proves knowledge of a message with a given digest. The message has a fixed length and is secret.
type Fixed struct {
	Message []frontend.Variable  // bits, the lowest of each byte first
	Digest  [2]frontend.Variable `gnark:",public"` // the result of Split for the digest
	padding byte
}

// NewFixed returns the circuit for messages of n bytes. It returns zkbench.ErrParams if the padding byte is 0
// or above 0x7f, or if n is negative.
func NewFixed(n int, padding byte) (*Fixed, error) {
	if err := errors.Join(checkLength(n), keccak.CheckPadding(padding)); err != nil {
		return nil, err
	}
	return newFixed(8*n, padding), nil
}

func newFixed(bits int, padding byte) *Fixed {
	return &Fixed{Message: make([]frontend.Variable, bits), padding: padding}
}

// Assign implements Circuit.
func (c *Fixed) Assign(message []byte, digest [keccak.Digest]byte) (frontend.Circuit, error) {
	if len(message)*8 != len(c.Message) {
		return nil, fmt.Errorf("%w: message of %d bytes for a circuit of %d", zkbench.ErrParams, len(message), len(c.Message)/8)
	}
	a := c.AssignPublic(digest).(*Fixed)
	assignBits(a.Message, message)
	return a, nil
}

// AssignPublic implements Circuit.
func (c *Fixed) AssignPublic(digest [keccak.Digest]byte) frontend.Circuit {
	a := newFixed(len(c.Message), c.padding)
	a.Digest = Split(digest)
	return a
}

func assignBits(dst []frontend.Variable, message []byte) {
	for i := range dst {
		dst[i] = 0
		if i/8 < len(message) {
			dst[i] = message[i/8] >> (i % 8) & 1
		}
	}
}

// Split returns a digest as two public inputs of 16 bytes each, little-endian.
func Split(digest [keccak.Digest]byte) (halves [2]frontend.Variable) {
	for k := range halves {
		var be [keccak.Digest / 2]byte
		for i := range be {
			be[len(be)-1-i] = digest[k*len(be)+i]
		}
		halves[k] = new(big.Int).SetBytes(be[:])
	}
	return halves
}

// Define implements frontend.Circuit.
func (c *Fixed) Define(api frontend.API) error {
	if err := keccak.CheckPadding(c.padding); err != nil {
		return err
	}
	for _, b := range c.Message {
		api.AssertIsBoolean(b)
	}
	padded := zeros(8 * keccak.Rate * keccak.Blocks(len(c.Message)/8))
	copy(padded, c.Message)
	for i := range 8 {
		padded[len(c.Message)+i] = c.padding >> i & 1
	}
	padded[len(padded)-1] = 1 // no bit of the padding byte: bit 7, where they share a byte
	s := newState()
	for block := 0; block < len(padded); block += 8 * keccak.Rate {
		s.absorb(api, padded[block:block+8*keccak.Rate])
		s.permute(api)
	}
	assertDigest(api, s.digest(), c.Digest)
	return nil
}

// zeros returns n constants of 0.
func zeros(n int) []frontend.Variable { return slices.Repeat([]frontend.Variable{0}, n) }

func newState() *state {
	s := new(state)
	for i := range s {
		s[i] = word(zeros(width))
	}
	return s
}

// absorb adds a block of bits.
func (s *state) absorb(api frontend.API, block []frontend.Variable) {
	for i, b := range block {
		at := &s[i/width][i%width]
		*at = xorBit(api, *at, b)
	}
}

// digest returns the bits that the sponge outputs.
func (s *state) digest() []frontend.Variable {
	bits := make([]frontend.Variable, 0, 8*keccak.Digest)
	for i := range 8 * keccak.Digest {
		bits = append(bits, s[i/width][i%width])
	}
	return bits
}

func assertDigest(api frontend.API, bits []frontend.Variable, halves [2]frontend.Variable) {
	n := len(bits) / 2
	for k, half := range halves {
		api.AssertIsEqual(sumOfBits(api, bits[k*n:(k+1)*n]), half)
	}
}

// sumOfBits returns the number that has these bits, the lowest first.
func sumOfBits(api frontend.API, bits []frontend.Variable) frontend.Variable {
	var sum frontend.Variable = 0
	for i, b := range bits {
		sum = api.Add(sum, api.Mul(b, new(big.Int).Lsh(big.NewInt(1), uint(i))))
	}
	return sum
}

// The approximate numbers of gates on PLONK for each block of a message: BlockConstraints for the
// circuits that work bit by bit, and StdBlockConstraints for Std. The true number of gates of a circuit
// differs from this by at most 2 %.
const (
	BlockConstraints    = 155_000
	StdBlockConstraints = 545_000 // mean of two blocks: the first takes 742,352 gates, each other 348,000
)

// Std proves what Fixed proves, but uses gnark's own gadget, std/hash/sha3, for comparison. Its messages are
// given as bytes, not as bits.
type Std struct {
	Message []uints.U8
	Digest  [keccak.Digest]uints.U8 `gnark:",public"`
}

// NewStd returns the circuit for messages of n bytes. It returns zkbench.ErrParams if n is negative.
func NewStd(n int) (*Std, error) {
	if err := checkLength(n); err != nil {
		return nil, err
	}
	return &Std{Message: make([]uints.U8, n)}, nil
}

// Assign implements Circuit.
func (c *Std) Assign(message []byte, digest [keccak.Digest]byte) (frontend.Circuit, error) {
	if len(message) != len(c.Message) {
		return nil, fmt.Errorf("%w: message of %d bytes for a circuit of %d", zkbench.ErrParams, len(message), len(c.Message))
	}
	a := c.AssignPublic(digest).(*Std)
	a.Message = uints.NewU8Array(message)
	return a, nil
}

// AssignPublic implements Circuit.
func (c *Std) AssignPublic(digest [keccak.Digest]byte) frontend.Circuit {
	a := &Std{Message: make([]uints.U8, len(c.Message))}
	copy(a.Digest[:], uints.NewU8Array(digest[:]))
	return a
}

// Define implements frontend.Circuit.
func (c *Std) Define(api frontend.API) error {
	h, err := sha3.NewLegacyKeccak256(api)
	if err != nil {
		return err
	}
	bytes, err := uints.NewBytes(api)
	if err != nil {
		return err
	}
	h.Write(c.Message)
	for i, b := range h.Sum() {
		bytes.AssertIsEqual(b, c.Digest[i])
	}
	return nil
}
