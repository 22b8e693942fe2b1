// Package challenger is where the challenges of a proof come from: what has been said so far,
// absorbed in order, decides them. Bytes is the module's transcript.
package challenger

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
	"github.com/zkbench/zkbench/transcript"
)

// Challenger absorbs messages under labels and gives challenges.
type Challenger[E, X any] interface {
	Bytes(label string, data []byte)
	Digests(label string, digests []tree.Digest)
	Elements(label string, elements []E)
	// Challenge is an element of the extension, outside the field itself where it is outside.
	Challenge(label string, outside bool) X
	// Index is a number below 2^log.
	Index(label string, log int) int
	// Grind finds the nonce of so many bits of work and absorbs it; CheckGrind absorbs one that
	// somebody has found, and tells whether it is one.
	Grind(ctx context.Context, ex executor.Executor, label string, work int) (nonce uint64, err error)
	CheckGrind(label string, work int, nonce uint64) bool
}

type bytes[E field.Element[E], X field.Extension[E, X]] struct {
	field field.Field[E, X]
	t     transcript.Transcript
}

// NewBytes is a challenger on the module's transcript, of a protocol's name.
func NewBytes[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], protocol string) Challenger[E, X] {
	return &bytes[E, X]{f, transcript.New(protocol)}
}

func (b *bytes[E, X]) Bytes(label string, data []byte) { b.t.Append(label, data) }

func (b *bytes[E, X]) Digests(label string, digests []tree.Digest) {
	data := make([]byte, 0, len(digests)*tree.DigestBytes)
	for _, d := range digests {
		data = d.Append(data)
	}
	b.t.Append(label, data)
}

func (b *bytes[E, X]) Elements(label string, elements []E) {
	data := make([]byte, 0, len(elements)*b.field.Bytes())
	for _, e := range elements {
		data = field.Append(data, b.field.Word(e), b.field.Bytes())
	}
	b.t.Append(label, data)
}

// Challenge takes coordinate after coordinate from the challenge's bytes, of each as many bits as
// the field's order has, and leaves out what is not below that.
func (b *bytes[E, X]) Challenge(label string, outside bool) (x X) {
	order := b.field.Order()
	mask := uint64(1)<<bits.Len64(order) - 1 // of 64 bits: all ones
	size := b.field.Bytes()
	var zero E
	for {
		drawn := 0
		raw := b.t.Challenge(label)
		for data := raw[:]; len(data) >= size && drawn < len(x); data = data[size:] {
			if v := field.Read(data[:size]) & mask; v < order {
				x[drawn] = b.field.New(v)
				drawn++
			}
		}
		if drawn < len(x) {
			continue // an event of less than 2^-40, which draws anew
		}
		inside := true
		for i := 1; i < len(x); i++ {
			inside = inside && x[i] == zero
		}
		if !outside || !inside {
			return x
		}
	}
}

func (b *bytes[E, X]) Index(label string, log int) int {
	raw := b.t.Challenge(label)
	return int(binary.LittleEndian.Uint64(raw[:]) & (1<<log - 1))
}

// worked tells whether Keccak-256 of a seed and a nonce ends in so many zero bits.
func worked(seed *[40]byte, nonce uint64, work int) bool {
	binary.LittleEndian.PutUint64(seed[32:], nonce)
	digest := keccak.Sum256(seed[:])
	return bits.TrailingZeros64(binary.LittleEndian.Uint64(digest[:])) >= work
}

// grinds is how many nonces are one task.
const grinds = 1 << 10

func (b *bytes[E, X]) Grind(ctx context.Context, ex executor.Executor, label string, work int) (uint64, error) {
	if work < 0 || work > 40 {
		return 0, fmt.Errorf("%w: %d bits of grinding, accepted are 0 to 40", zkbench.ErrParams, work)
	}
	seed := b.seed(label)
	nonce := uint64(0)
	for work > 0 {
		var found uint64 = 1<<64 - 1
		tasks := executor.Tasks(ex)
		results := make([]uint64, tasks)
		err := ex.Do(ctx, tasks, func(_ context.Context, i int) error {
			s := seed
			results[i] = found
			for n := nonce + uint64(i)*grinds; n < nonce+uint64(i+1)*grinds; n++ {
				if worked(&s, n, work) {
					results[i] = n
					break
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
		for _, r := range results {
			found = min(found, r)
		}
		if found != 1<<64-1 {
			nonce = found
			break
		}
		nonce += uint64(tasks) * grinds
	}
	b.absorb(label, nonce)
	return nonce, nil
}

func (b *bytes[E, X]) CheckGrind(label string, work int, nonce uint64) bool {
	seed := b.seed(label)
	b.absorb(label, nonce)
	return work == 0 && nonce == 0 || work > 0 && worked(&seed, nonce, work)
}

// seed is what a nonce is for.
func (b *bytes[E, X]) seed(label string) (seed [40]byte) {
	raw := b.t.Challenge(label + " seed")
	copy(seed[:32], raw[:])
	return seed
}

func (b *bytes[E, X]) absorb(label string, nonce uint64) { b.t.AppendUint64(label, nonce) }
