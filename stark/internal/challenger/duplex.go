package challenger

import (
	"context"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// duplex is a sponge of Poseidon over Goldilocks elements, for verifiers that are circuits: all that
// it does is to permute. A message is an element that stands for its label, its length, its
// elements, and 0 where their number is odd, so that it is whole pairs; they take the rate's place, eight at
// a time, which is as secure as adding them (Bertoni, Daemen, Peeters, Van Assche 2011, section 6, the mode
// Overwrite) and costs a circuit nothing. Each message ends with a permutation. A challenge is the beginning of the rate after its label and -1, which is no message's length.
type duplex[X field.Extension[goldilocks.Element, X]] struct {
	state poseidon.State
}

// NewDuplex is a challenger of field elements, of a protocol's name.
func NewDuplex[X field.Extension[goldilocks.Element, X]](protocol string) Challenger[goldilocks.Element, X] {
	d := &duplex[X]{}
	d.Elements("zkbench/v1/"+protocol, nil)
	return d
}

// Label is the element that stands for a label: the first eight bytes of its SHA-512, modulo p.
func Label(l string) goldilocks.Element {
	h := sha512.Sum512([]byte(l))
	return goldilocks.Reduce(binary.LittleEndian.Uint64(h[:]))
}

func (d *duplex[X]) absorb(l string, elements []goldilocks.Element) {
	message := append([]goldilocks.Element{Label(l), goldilocks.Element(len(elements))}, elements...)
	if len(message)%2 == 1 {
		message = append(message, 0)
	}
	d.permute(message)
}

// draw ends with a state whose rate begins with a challenge.
func (d *duplex[X]) draw(l string) { d.permute([]goldilocks.Element{Label(l), goldilocks.Modulus - 1}) }

func (d *duplex[X]) permute(message []goldilocks.Element) {
	for len(message) > 0 {
		message = message[copy(d.state[:poseidon.Rate], message):]
		d.state.Permute()
	}
}

func (d *duplex[X]) Elements(l string, elements []goldilocks.Element) { d.absorb(l, elements) }

// Bytes are absorbed as Elements.
func (d *duplex[X]) Bytes(l string, data []byte) { d.absorb(l, Elements(data)) }

// Elements are bytes as elements: their number, and four of them in each.
func Elements(data []byte) []goldilocks.Element {
	elements := []goldilocks.Element{goldilocks.Element(len(data))}
	for ; len(data) > 0; data = data[min(4, len(data)):] {
		elements = append(elements, goldilocks.Element(field.Read(data[:min(4, len(data))])))
	}
	return elements
}

func (d *duplex[X]) Digests(l string, digests []tree.Digest) {
	var elements []goldilocks.Element
	for _, digest := range digests {
		for _, w := range digest {
			elements = append(elements, goldilocks.Reduce(w)) // which is below p, of Poseidon's digests
		}
	}
	d.absorb(l, elements)
}

func (d *duplex[X]) Challenge(l string, outside bool) (x X) {
	for {
		d.draw(l)
		inside := true
		for i := range len(x) {
			x[i] = d.state[i]
			inside = inside && (i == 0 || x[i] == 0)
		}
		if !outside || !inside {
			return x
		}
	}
}

// Index is the low bits of an element, which are uniform but for one in 2^32.
func (d *duplex[X]) Index(l string, log int) int {
	d.draw(l)
	return int(d.state[0]) & (1<<log - 1)
}

// attempt is what is permuted for a nonce: the sponge after it would have absorbed it.
func (d *duplex[X]) attempt(l string, nonce uint64) poseidon.State {
	s := d.state
	copy(s[:], []goldilocks.Element{Label(l), 1, goldilocks.Element(nonce), 0})
	return s
}

func (d *duplex[X]) Grind(ctx context.Context, ex executor.Executor, l string, work int) (uint64, error) {
	if work < 0 || work > mostWork {
		return 0, fmt.Errorf("%w: %d bits of grinding, accepted are 0 to %d", zkbench.ErrParams, work, mostWork)
	}
	nonce, err := search(ctx, ex, func(from uint64) (uint64, bool) {
		states := make([]poseidon.State, grinds)
		for i := range states {
			states[i] = d.attempt(l, from+uint64(i))
		}
		poseidon.PermuteAll(states)
		for i, s := range states {
			if bits.TrailingZeros64(uint64(s[0])) >= work {
				return from + uint64(i), true
			}
		}
		return 0, false
	})
	if err != nil {
		return 0, err
	}
	return nonce, d.CheckGrind(l, work, nonce)
}

// CheckGrind absorbs the nonce, and looks at the first element then.
func (d *duplex[X]) CheckGrind(l string, work int, nonce uint64) error {
	if nonce >= goldilocks.Modulus {
		return fmt.Errorf("%w: the nonce is no element", zkbench.ErrMalformed)
	}
	d.absorb(l, []goldilocks.Element{goldilocks.Element(nonce)})
	return worked(bits.TrailingZeros64(uint64(d.state[0])), work, nonce)
}
