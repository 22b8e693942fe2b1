package keccak

import (
	"fmt"

	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/hash/sha3"
	"github.com/consensys/gnark/std/math/uints"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/hash/keccak"
)

// Std is Fixed by gnark's own gadget, std/hash/sha3, for comparison. It takes bytes.
type Std struct {
	Message []uints.U8
	Digest  [keccak.Digest]uints.U8 `gnark:",public"`
}

// NewStd returns the circuit for messages of n bytes. A negative length is a
// zkbench.ErrParams.
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
	a := &Std{Message: uints.NewU8Array(message)}
	copy(a.Digest[:], uints.NewU8Array(digest[:]))
	return a, nil
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
