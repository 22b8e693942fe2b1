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

// duplex is a sponge of Poseidon over Goldilocks elements, for verifiers that are circuits: it only permutes.
// A message is an element that stands for its label, its length and its elements. If their number is odd, a 0
// follows, so that the message consists of whole pairs. Messages overwrite the rate, eight elements at a
// time. This is as secure as adding them (Bertoni, Daemen, Peeters, Van Assche 2011, section 6, the mode
// Overwrite) and costs a circuit nothing. Each message ends with a permutation. For a challenge, the label
// and -1, which is not the length of any message, are absorbed; the challenge is then the beginning of the
// rate.
type duplex[X field.Extension[goldilocks.Element, X]] struct {
	state poseidon.State
}

// NewDuplex returns a challenger that absorbs and draws field elements. The challenger has absorbed the
// protocol's name and nothing else.
func NewDuplex[X field.Extension[goldilocks.Element, X]](protocol string) Challenger[goldilocks.Element, X] {
	d := &duplex[X]{}
	d.Elements("zkbench/v1/"+protocol, nil)
	return d
}

// Label returns the element that stands for a label: the first eight bytes of the label's SHA-512, modulo the
// order of the field.
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

// draw leaves the sponge in a state whose rate begins with a challenge.
func (d *duplex[X]) draw(l string) { d.permute([]goldilocks.Element{Label(l), goldilocks.Modulus - 1}) }

func (d *duplex[X]) permute(message []goldilocks.Element) {
	for len(message) > 0 {
		message = message[copy(d.state[:poseidon.Rate], message):]
		d.state.Permute()
	}
}

func (d *duplex[X]) Elements(l string, elements []goldilocks.Element) { d.absorb(l, elements) }

// Bytes absorbs data as Elements encodes it.
func (d *duplex[X]) Bytes(l string, data []byte) { d.absorb(l, Elements(data)) }

// Elements encodes bytes as elements. The first element is the number of bytes. Each of the others holds up
// to four bytes.
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
			elements = append(elements, goldilocks.Reduce(w)) // words of Poseidon's digests are below p
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

// Index returns the low bits of an element. They are uniform except with probability about 2^-32.
func (d *duplex[X]) Index(l string, log int) int {
	d.draw(l)
	return int(d.state[0]) & (1<<log - 1)
}

// attempt returns the state that is permuted for a nonce: the sponge after it has absorbed the nonce.
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

// CheckGrind absorbs the nonce and then checks the first element of the state.
func (d *duplex[X]) CheckGrind(l string, work int, nonce uint64) error {
	if nonce >= goldilocks.Modulus {
		return fmt.Errorf("%w: the nonce is not below the field's order", zkbench.ErrMalformed)
	}
	d.absorb(l, []goldilocks.Element{goldilocks.Element(nonce)})
	return worked(bits.TrailingZeros64(uint64(d.state[0])), work, nonce)
}
